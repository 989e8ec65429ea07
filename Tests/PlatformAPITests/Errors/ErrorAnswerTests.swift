import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import Testing
import Uploads

@testable import PlatformAPI

@Suite struct `Error responses` {
    /// The headers that each status must have.
    private static let required: [Int: FieldName] = [
        401: "WWW-Authenticate", 415: "Accept-Encoding", 429: "Retry-After", 503: "Retry-After",
    ]

    @Test(arguments: APIErrorKind.allCases)
    func `have the headers that their status requires, and are never cached (H97, H98)`(
        kind: APIErrorKind
    ) {
        let response = APIError(kind, "No.").response(publicBase: TestServer.base)
        #expect(response.fields["Cache-Control"] == "no-store")
        if let name = Self.required[kind.row.status] {
            #expect(response.fields[name] != nil)
        }
    }

    @Test func `name the media types and codings that are accepted (H70, H71, H121)`() {
        let coding = APIError(
            .invalidHeader, "No.", data: .header("Content-Encoding"), status: 415)
        #expect(coding.response(publicBase: TestServer.base).status == .unsupportedMediaType)
        #expect(
            coding.response(publicBase: TestServer.base).fields["Accept-Encoding"]
                == "gzip, deflate, identity")
        let type = APIError(.invalidHeader, "No.", data: .header("Content-Type"))
        #expect(
            type.response(publicBase: TestServer.base).fields["Accept-Patch"]
                == "application/vnd.layer-patch+json")
    }
}

@Suite struct `Internal errors` {
    @Test func `an internal error is answered without its text and reported once (H95)`()
        async throws
    {
        let server = try await TestServer.broken(.unexpected)
        let answer = try await send(server)
        #expect(answer.status == 500)
        #expect(
            answer.body == """
                {"id":"internal_server_error","code":100,\
                "message":"Something unexpected happened.",\
                "url":"https://chat.example.com/docs/errors#internal_server_error"}
                """)
        #expect(server.faults.reported == 1)
    }

    @Test func `an unavailable component gets 503 with Retry-After (2_2)`() async throws {
        let server = try await TestServer.broken(.unavailable)
        let answer = try await send(server)
        #expect(answer.status == 503)
        #expect(answer["Retry-After"] == "5")
        #expect(answer.body.hasPrefix(#"{"id":"service_unavailable","code":1,"#))
        #expect(server.faults.reported == 1)
    }

    @Test func `a stalled body gets an error, and its connection ends (2_2, code 8)`() async throws
    {
        let sample = try await SampleApplication.make(version: "3.0")
        let request = Request(
            method: .post, target: RequestTarget("/apps/\(sample.application.uuid)/conversations"),
            fields: Fields([
                ("Authorization", "Bearer \(sample.variables["token"] ?? "")"),
                ("Accept", "application/vnd.layer+json; version=3.0"),
            ]), framing: .length(100))
        guard case .work(_, let work) = sample.server.service.answer(to: request).outcome else {
            Issue.record("The request was answered without its body.")
            return
        }
        let before = try await sample.eventCount()
        let response = await work(StalledBody())
        #expect(response.status == .requestTimeout)
        #expect(response.ending == .close)
        guard case .bytes(let bytes) = response.content else {
            Issue.record("The response has no content.")
            return
        }
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                {"id":"request_timeout","code":8,"message":"The body arrived too slowly.",\
                "url":"https://chat.example.com/docs/errors#request_timeout"}
                """)
        #expect(try await sample.eventCount() == before)
    }

    private func send(_ server: TestServer) async throws -> PlainAnswer {
        try await RouterClient(service: server.service).send(
            PlainRequest(
                method: "GET",
                target: "/apps/7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55/users/ana/conversations",
                fields: [
                    ("Authorization", "Bearer unseen"),
                    ("Accept", "application/vnd.layer+json; version=3.0"),
                ], body: ""))
    }
}

/// A body that stalls.
private final class StalledBody: RequestBody {
    let length: Int64? = 100

    func read(into buffer: inout BodyBuffer) async throws(BodyError) { throw .stalled }

    func interrupt() {}
}

@Suite struct `Refusals of the HTTP layer` {
    @Test(arguments: [
        (Status.contentTooLarge, Int64(10)), (.fieldsTooLarge, 10), (.badRequest, 10),
        (.requestTimeout, 8), (.notImplemented, 10), (.serviceUnavailable, 1),
        (.tooManyRequests, 116), (.methodNotAllowed, 109),
    ])
    func `a refusal is an error object with the layer's status`(
        status: Status, code: Int64
    ) async throws {
        let server = try await TestServer.shared
        let response = server.service.refusal(Refusal(status, "H1", "A reason."))
        #expect(response.status == status)
        #expect(response.fields["Content-Type"] == "application/json; charset=UTF-8")
        guard case .bytes(let bytes) = response.content else {
            Issue.record("The response has no content.")
            return
        }
        let error = try JSONDocument(bytes).root
        #expect(error["code"]?.integer == code)
        #expect(error["message"]?.string == "A reason.")
    }
}

@Suite struct `The errors of uploads` {
    @Test(arguments: UploadErrorKind.allCases)
    func `have the ids and codes of the error table (ruling 32)`(kind: UploadErrorKind) throws {
        let row = try #require(
            APIErrorKind.allCases.first { $0.row.id.description == kind.rawValue })
        #expect(row.row.code == kind.code)
    }
}
