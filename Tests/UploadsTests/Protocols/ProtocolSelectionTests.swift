import HTTP
import Testing

@testable import Uploads

/// A head, and the protocol chosen for it at the creation endpoint and at an upload.
struct ProtocolCase: Sendable, CustomTestStringConvertible {
    enum Choice: Equatable, Sendable {
        case uploadProtocol(ProtocolSelection)
        case badRequest
        case method
    }

    let method: HTTP.Method
    let fields: [(name: String, value: String)]
    let creation: Choice
    let resource: Choice
    var query = ""

    init(
        _ method: HTTP.Method, _ fields: [(name: String, value: String)], _ creation: Choice,
        _ resource: Choice, query: String = ""
    ) {
        self.method = method
        self.fields = fields
        self.creation = creation
        self.resource = resource
        self.query = query
    }

    var testDescription: String {
        "\(method.rawValue)\(query) \(fields.map { "\($0.name): \($0.value)" })"
    }

    static let interop = "Upload-Draft-Interop-Version"
    static let override = "X-HTTP-Method-Override"
    static let tus = [(name: "Tus-Resumable", value: "1.0.0")]

    static let all = rules1to3 + rules4and5 + rules6to9

    private static func both(
        _ method: HTTP.Method, _ fields: [(name: String, value: String)], _ choice: Choice
    ) -> ProtocolCase {
        ProtocolCase(method, fields, choice, choice)
    }

    private static let rules1to3: [ProtocolCase] = [
        both(.patch, tus + [(interop, "6")], .badRequest),
        both(.patch, tus + [(interop, "none")], .badRequest),
        both(.post, [(interop, "3")], .uploadProtocol(.interop(.draft(3)))),
        both(.put, [(interop, "4;a=1; b")], .uploadProtocol(.interop(.draft(4)))),
        both(.head, [(interop, "5")], .uploadProtocol(.interop(.draft(5)))),
        both(.get, [(interop, "6")], .uploadProtocol(.interop(.draft(6)))),
        both(.patch, [(interop, "7")], .uploadProtocol(.interop(.draft(7)))),
        both(.delete, [(interop, "8")], .uploadProtocol(.interop(.draft(8)))),
        both(.head, [(interop, "2")], .uploadProtocol(.interop(.other))),
        both(.head, [(interop, "9")], .uploadProtocol(.interop(.other))),
        both(.head, [(interop, "-1")], .uploadProtocol(.interop(.other))),
        ProtocolCase(.head, [(interop, "six")], .method, .uploadProtocol(.neutral)),
        ProtocolCase(.head, [(interop, "6"), (interop, "6")], .method, .uploadProtocol(.neutral)),
        ProtocolCase(
            .put, [(interop, "1.5"), ("Upload-Complete", "?1")], .uploadProtocol(.interop(.final)),
            .uploadProtocol(.interop(.final))),
        both(.post, tus, .uploadProtocol(.tus(.post))),
        both(.head, tus, .uploadProtocol(.tus(.head))),
        both(.post, tus + [(override, "patch")], .uploadProtocol(.tus(.patch))),
        both(.post, tus + [(override, "DELETE")], .uploadProtocol(.tus(.delete))),
        both(.post, tus + [(override, "Head")], .uploadProtocol(.tus(.head))),
        both(.post, tus + [(override, "PUT")], .method),
        both(.patch, tus + [(override, "DELETE")], .uploadProtocol(.tus(.patch))),
    ]

    private static let rules4and5: [ProtocolCase] = [
        both(
            .patch, [("Content-Type", "Application/Partial-Upload; a=b")],
            .uploadProtocol(.interop(.final))),
        both(.post, [("Upload-Complete", "?0")], .uploadProtocol(.interop(.final))),
        both(.put, [("Upload-Complete", "?1;x")], .uploadProtocol(.interop(.final))),
        both(.patch, [("Upload-Complete", "?1")], .uploadProtocol(.interop(.final))),
        ProtocolCase(.put, [("Upload-Complete", "?2")], .method, .uploadProtocol(.contentRange)),
        ProtocolCase(
            .put, [("Upload-Complete", "?1, ?1")], .method, .uploadProtocol(.contentRange)),
        ProtocolCase(.put, [("Upload-Incomplete", "?0")], .method, .uploadProtocol(.contentRange)),
        ProtocolCase(
            .put, [("Content-Type", "application/partial-upload")], .method,
            .uploadProtocol(.contentRange)),
        ProtocolCase(.head, [("Upload-Complete", "?1")], .method, .uploadProtocol(.neutral)),
        both(
            .patch, [("Content-Type", "application/offset+octet-stream")],
            .uploadProtocol(.tus(.patch))),
    ]

    private static let rules6to9: [ProtocolCase] = [
        ProtocolCase(
            .post, [], .uploadProtocol(.contentRange), .method,
            query: "?uploadType=resumable&name=a"),
        ProtocolCase(
            .post, [], .badRequest, .uploadProtocol(.contentRange), query: "?uploadType=media"),
        ProtocolCase(
            .post, [("X-Goog-Resumable", "start")], .uploadProtocol(.contentRange), .method),
        ProtocolCase(
            .post, [("X-Upload-Content-Type", "a/b")], .uploadProtocol(.contentRange), .method),
        ProtocolCase(
            .post, [("X-Upload-Content-Length", "5")], .uploadProtocol(.contentRange), .method),
        ProtocolCase(.post, [("Upload-Length", "5")], .uploadProtocol(.tus(.post)), .method),
        ProtocolCase(.post, [("Upload-Defer-Length", "1")], .uploadProtocol(.tus(.post)), .method),
        ProtocolCase(.post, [("Upload-Concat", "partial")], .uploadProtocol(.tus(.post)), .method),
        ProtocolCase(.post, [], .badRequest, .uploadProtocol(.contentRange)),
        ProtocolCase(
            .post, [("Content-Type", "application/x-www-form-urlencoded")], .badRequest,
            .uploadProtocol(.contentRange)),
        ProtocolCase(
            .post, [("Upload-Content-Type", "a/b"), ("Upload-Content-Length", "5")], .badRequest,
            .uploadProtocol(.contentRange)),
        ProtocolCase(
            .post, [("X-Goog-Hash", "crc32c=AAAAAA==")], .badRequest, .uploadProtocol(.contentRange)
        ),
        ProtocolCase(.post, [("Upload-Offset", "5")], .badRequest, .method),
        ProtocolCase(.post, [("Upload-Metadata", "a")], .badRequest, .method),
        ProtocolCase(.post, [("Upload-Checksum", "md5 a")], .badRequest, .method),
        ProtocolCase(.post, [("Upload-Incomplete", "?0")], .badRequest, .method),
        ProtocolCase(.post, [("Upload-Complete", "yes")], .badRequest, .method),
        ProtocolCase(.post, [(interop, "six")], .badRequest, .method),
        ProtocolCase(
            .post, [("Content-Type", "application/offset+octet-stream")], .badRequest, .method),
        ProtocolCase(
            .post, [("Content-Type", "Application/Partial-Upload; a")], .badRequest, .method),
        ProtocolCase(
            .post, [("Content-Range", "bytes 0-1/2")], .badRequest, .uploadProtocol(.contentRange)),
        ProtocolCase(.post, [(override, "PATCH")], .badRequest, .method),
        ProtocolCase(.put, [], .method, .uploadProtocol(.contentRange)),
        ProtocolCase(.head, [], .method, .uploadProtocol(.neutral)),
        ProtocolCase(.get, [], .method, .uploadProtocol(.neutral)),
        ProtocolCase(.delete, [], .method, .uploadProtocol(.neutral)),
        ProtocolCase(.patch, [], .method, .method),
        ProtocolCase(.patch, [("Content-Type", "text/plain")], .method, .method),
    ]
}

@Suite struct `The protocol of a request` {
    @Test(arguments: ProtocolCase.all) func `is chosen from its head in a fixed order (2)`(
        row: ProtocolCase
    ) throws {
        #expect(try chosen(row, at: "/uploads\(row.query)") == row.creation)
        #expect(try chosen(row, at: "/uploads/\(Self.token)\(row.query)") == row.resource)
    }

    @Test(arguments: [
        ("/uploads", true), ("/uploads/", true), ("/uploads?a=b", true), ("/uploads/short", false),
        ("/uploads//", false), ("/uploads/0123456789abcdefghijABCDEFGHIJ_-/", false),
    ]) func `a path names the creation endpoint, an upload or neither (1.1)`(
        path: String, isCreation: Bool
    ) {
        #expect(UploadPath(RequestTarget(path)) == (isCreation ? .creation : nil))
    }

    private static let token = "0123456789abcdefghijABCDEFGHIJ_-"

    private func chosen(_ row: ProtocolCase, at path: String) throws -> ProtocolCase.Choice {
        let request = Request(
            method: row.method, target: RequestTarget(path), fields: Fields(row.fields))
        let uploadPath = try #require(UploadPath(request.target))
        do throws(UploadError) {
            return .uploadProtocol(try ProtocolSelection(request, at: uploadPath))
        } catch {
            let status = error.details(UploadSettings()).status
            #expect([.badRequest, .methodNotAllowed].contains(status))
            return status == .badRequest ? .badRequest : .method
        }
    }
}

@Suite struct `OPTIONS` {
    private let fixture = UploadFixture()

    @Test(arguments: ["/uploads", "/uploads/", "resource", "/uploads/none", "*"])
    func `lists the server's protocols and limits without a credential (3.7)`(path: String)
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let answer = await uploads.send(
            .options, path == "resource" ? url : path, [("Tus-Resumable", "0.1")])
        #expect(answer.status == .noContent)
        #expect(answer.fields["Upload-Limit"]?.hasPrefix("max-size=2147483648") == true)
    }

    /// The allowed methods, by what the URL names.
    @Test func `lists exactly the methods that an upload accepts in its state (ruling 22)`()
        async throws
    {
        let uploads = try await fixture.open()
        func allowed(_ url: String) async -> String? {
            await uploads.send(.options, url).fields["Allow"]
        }
        let all = "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS"
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        #expect(await allowed(url) == all)
        #expect(await uploads.send(.post, url, [], ScriptedBody([1, 2, 3])).status == .ok)
        #expect(await allowed(url) == all)
        #expect(await uploads.send(.delete, url).status.code == 499)
        #expect(await allowed(url) == "OPTIONS")
        for path in ["/uploads/none", "/uploads/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
            #expect(await allowed(path) == "OPTIONS")
        }
        #expect(await allowed("/uploads") == "POST, PUT, OPTIONS")
        #expect(await allowed("/uploads/") == "POST, PUT, OPTIONS")
    }

    @Test func `lists the versions that work through the configured proxy (7.4)`() async throws {
        let behind = UploadFixture { $0.maxAppendSize = 1000 }
        let uploads = try await behind.open()
        let limit = "max-size=2147483648, max-append-size=1000"
        #expect(await uploads.send(.options, "/uploads").fields["Upload-Limit"] == limit)
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let client = InteropClient(uploads: uploads, version: 8)
        let status = await client.send(.head, url)
        #expect(status.fields["Upload-Limit"] == limit + ", max-age=86400")
    }
}
