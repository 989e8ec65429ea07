import HTTP
import Testing

@testable import Uploads

@Suite struct `The upload resource without a protocol` {
    private let fixture = UploadFixture()

    @Test func `HEAD and GET return the durable offset (3.8)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        _ = await uploads.put(url, "bytes 0-1/3", [1, 2])
        let head = await uploads.send(.head, url)
        #expect(head.fields["Upload-Offset"] == "2")
        #expect(head.fields["Upload-Length"] == "3")
        #expect(head.fields["Upload-Complete"] == "?0")
        let get = await uploads.send(.get, url)
        #expect(
            get.text
                == #"{"state":"receiving","offset":2,"length":3,"expires_at":"2030-03-24T17:46:40Z"}"#
        )
        _ = await uploads.put(url, "bytes 2-2/3", [3])
        #expect(await uploads.send(.head, url).fields["Upload-Complete"] == "?1")
    }

    @Test func `PATCH without a protocol is 405 (2)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let answer = await uploads.send(.patch, url, [], ScriptedBody([1]))
        #expect(answer.status == .methodNotAllowed)
        #expect(answer.fields["Allow"] == "GET, HEAD, PUT, POST, DELETE, OPTIONS")
    }

    @Test func `every answer has no-store and CORS headers (3.6, 3.7)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        for answer in [
            await uploads.put(url, "bytes 0-0/3", [1]), await uploads.put(url, "bad"),
            await uploads.send(.get, "/uploads/none"), await uploads.send(.patch, url),
            await uploads.send(.delete, url),
        ] {
            #expect(answer.fields["Cache-Control"] == "no-store")
            #expect(answer.fields["Access-Control-Allow-Origin"] == "*")
            #expect(answer.fields["Access-Control-Expose-Headers"]?.contains("Range") == true)
            #expect(answer.fields["Vary"] == "Origin")
        }
    }

    @Test func `only the origin recorded at creation is allowed (3.7)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(
            UploadFixture.draft(length: 3, origin: "https://own.example"))
        let own = await uploads.send(.get, url, [("Origin", "https://own.example")])
        #expect(own.fields["Access-Control-Allow-Origin"] == "https://own.example")
        #expect(own.fields["Vary"] == "Origin")
        let foreign = await uploads.send(.get, url, [("Origin", "https://other.example")])
        #expect(foreign.status == .ok)
        #expect(foreign.fields["Access-Control-Allow-Origin"] == nil)
    }

    @Test func `a preflight allows the headers that the web SDK sends (3.7)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let answer = await uploads.send(
            .options, url,
            [("Origin", "https://any.example"), ("Access-Control-Request-Method", "PUT")])
        #expect(answer.status == .noContent)
        #expect(
            answer.fields["Access-Control-Allow-Headers"]?.contains("Upload-Content-Length") == true
        )
        #expect(answer.fields["Access-Control-Max-Age"] == "86400")
    }

    @Test func `an error is one object without secrets (3.9)`() async throws {
        let uploads = try await fixture.open()
        let answer = await uploads.send(.get, "/uploads/none")
        let text = "There is no upload at this URL; create a new upload."
        #expect(
            answer.text
                == #"{"id":"not_found","code":102,"message":"\#(text)","url":"https://chat.example/docs/errors#not_found","error":{"code":404,"message":"\#(text)","errors":[{"domain":"upload","reason":"notFound","message":"\#(text)"}]}}"#
        )
    }
}
