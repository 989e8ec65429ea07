import HTTP
import SystemSupport
import Testing

@testable import Uploads

@Suite struct `Creating a session` {
    private let fixture = UploadFixture()

    @Test func `returns an absolute URL that accepts the content (5.1, 5.11)`() async throws {
        let uploads = try await fixture.open()
        let answer = await post(
            uploads, [("X-Upload-Content-Type", "image/png"), ("X-Upload-Content-Length", "3")],
            #"{"name":"a.png","metadata":{"x":1},"unknown":[]}"#)
        #expect(answer.status == .ok)
        #expect(answer.fields["Content-Name"] == "content 1")
        #expect(answer.text == "")
        let url = try #require(answer.fields["Location"])
        #expect(url.hasPrefix("https://chat.example/uploads/"))
        #expect(await uploads.put(url, "bytes 0-1/3", [1, 2]).status == .resumeIncomplete)
        let last = await uploads.put(url, "bytes 2-2/3", [3])
        #expect(last.status == .ok)
        #expect(last.text.contains(#""name":"a.png""#))
        #expect(last.text.contains(#""contentType":"image/png""#))
        #expect(last.text.contains("md5Hash"))
        let finished = try #require(fixture.finisher.finished.withLock { $0.first })
        #expect(finished.owner == UploadOwner(application: "app"))
        #expect(finished.contentID == UploadFixture.content)
    }

    @Test(
        arguments: [
            ("?uploadType=resumable", [], 200), ("", [("X-Goog-Resumable", "start")], 201),
            ("?uploadType=resumable", [("X-Goog-Resumable", "Start")], 200),
            ("", [("X-Upload-Content-Type", "a/b")], 200),
        ] as [(String, [(String, String)], Int)])
    func `is answered with the status that each client expects (5.1, 13)`(
        query: String, fields: [(String, String)], status: Int
    ) async throws {
        let uploads = try await fixture.open()
        let fields = fields.map { (name: $0.0, value: $0.1) }
        for path in ["/uploads", "/uploads/"] {
            let answer = await uploads.send(
                .post, "\(path)\(query)", fields + [TestUploadAuthorizer.key])
            #expect(answer.status.code == status)
            #expect(answer.fields["Location"] != nil)
        }
    }

    @Test(
        arguments: [
            ([("X-Upload-Content-Type", "a/head")], #"{"contentType":"a/json"}"#, "a/head"),
            ([("X-Goog-Resumable", "start"), ("Content-Type", "a/own")], "", "a/own"),
            (
                [("X-Goog-Resumable", "start"), ("Content-Type", "application/json")],
                #"{"contentType":"a/json"}"#, "a/json"
            ),
            ([("Content-Type", "application/json")], "{}", "application/octet-stream"),
        ] as [([(String, String)], String, String)])
    func `takes the media type from the first header or member that has it (5.1)`(
        fields: [(String, String)], json: String, type: String
    ) async throws {
        let uploads = try await fixture.open()
        let url = try #require(await post(uploads, fields, json).fields["Location"])
        let last = await uploads.put(url, "bytes 0-0/1", [1])
        #expect(last.text.contains(#""contentType":"\#(type)""#))
    }

    @Test(
        arguments: [
            ([("X-Upload-Content-Length", "1x")], "", 400),
            ([("X-Upload-Content-Length", "2147483649")], "", 413),
            ([("X-Upload-Content-Length", "4"), ("X-Upload-Content-Length", "4")], "", 400),
            ([("X-Upload-Content-Length", "4")], #"{"size":"5"}"#, 400),
            ([], #"{"size":-1}"#, 400), ([], #"{"size":"2147483649"}"#, 413),
            ([], "[]", 400), ([], "{", 400), ([], #"{"name":5}"#, 400),
            ([], #"{"md5Hash":"AAAA"}"#, 400), ([("X-Goog-Hash", "crc32c=x")], "", 400),
            ([("X-Goog-Hash", "crc32c=AAAAAA==")], #"{"crc32c":"AAAAAQ=="}"#, 400),
            ([("Content-Encoding", "gzip")], "{}", 415),
            ([], "{\"name\":\"" + String(repeating: "a", count: 65_536) + "\"}", 400),
        ] as [([(String, String)], String, Int)])
    func `is refused without creating an upload (5.1)`(
        fields: [(String, String)], json: String, status: Int
    ) async throws {
        let uploads = try await fixture.open()
        #expect(await post(uploads, fields, json).status.code == status)
        #expect(uploads.statistics.open == [:])
    }

    @Test func `checks the content against the digests stated at creation (5.9)`() async throws {
        let uploads = try await fixture.open()
        let url = try #require(
            await post(uploads, [], #"{"md5Hash":"AAAAAAAAAAAAAAAAAAAAAA==","size":1}"#)
                .fields["Location"])
        let last = await uploads.put(url, "bytes 0-0/1", [1])
        #expect(last.status == .badRequest)
        #expect(last.text.contains("checksumMismatch"))
        #expect(await uploads.put(url, "bytes */*").status == .gone)
    }

    @Test(arguments: [(nil, 401), ("Bearer wrong", 401), ("Bearer reader", 403)])
    func `checks the credential first (1.1, 5.1)`(
        credential: String?, status: Int
    ) async throws {
        let uploads = try await fixture.open()
        let fields = credential.map { [(name: "Authorization", value: $0)] } ?? []
        let body = ScriptedBody([1])
        let answer = await uploads.send(
            .post, "/uploads?uploadType=resumable", fields + [("X-Upload-Content-Length", "x")],
            body)
        #expect(answer.status.code == status)
        #expect(answer.fields["Content-Name"] == nil)
        #expect(body.reads == 0)
    }

    @Test func `is limited by the number of open uploads (12)`() async throws {
        let small = UploadFixture { $0.maxOpenUploadsPerOwner = 1 }
        let uploads = try await small.open()
        #expect(await post(uploads, [], "").status == .ok)
        let second = await post(uploads, [], "")
        #expect(second.status == .tooManyRequests)
        #expect(second.fields["Retry-After"] != nil)
    }

    @Test func `stores the origin of the page (5.1)`() async throws {
        let uploads = try await fixture.open()
        let url = try #require(
            await post(uploads, [("Origin", "https://own.example")], "").fields["Location"])
        let own = await uploads.send(.get, url, [("Origin", "https://own.example")])
        #expect(own.fields["Access-Control-Allow-Origin"] == "https://own.example")
    }

    @Test func `needs uploadType or X-Goog-Resumable, and POST or PUT (2)`() async throws {
        let uploads = try await fixture.open()
        #expect(
            await uploads.send(.post, "/uploads", [TestUploadAuthorizer.key]).status == .badRequest)
        let get = await uploads.send(.get, "/uploads", [TestUploadAuthorizer.key])
        #expect(get.status == .methodNotAllowed)
        #expect(get.fields["Allow"] == "POST, PUT, OPTIONS")
    }

    private func post(
        _ uploads: Uploads, _ fields: [(String, String)], _ json: String
    ) async -> Response {
        let fields = fields.map { (name: $0.0, value: $0.1) }
        let isStart = fields.contains { $0.name == "X-Goog-Resumable" }
        return await uploads.send(
            .post, isStart ? "/uploads" : "/uploads?uploadType=resumable",
            fields + [TestUploadAuthorizer.key], ScriptedBody(Array(json.utf8)))
    }
}
