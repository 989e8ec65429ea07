import HTTP
import Testing

@testable import Uploads

/// One head, and what it is taken for on the creation endpoint and on an upload.
struct DialectCase: Sendable, CustomTestStringConvertible {
    enum Choice: Equatable, Sendable {
        case dialect(ProtocolSelection)
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
    ) -> DialectCase {
        DialectCase(method, fields, choice, choice)
    }

    private static let rules1to3: [DialectCase] = [
        both(.patch, tus + [(interop, "6")], .badRequest),
        both(.patch, tus + [(interop, "none")], .badRequest),
        both(.post, [(interop, "3")], .dialect(.interop(.draft(3)))),
        both(.put, [(interop, "4;a=1; b")], .dialect(.interop(.draft(4)))),
        both(.head, [(interop, "5")], .dialect(.interop(.draft(5)))),
        both(.get, [(interop, "6")], .dialect(.interop(.draft(6)))),
        both(.patch, [(interop, "7")], .dialect(.interop(.draft(7)))),
        both(.delete, [(interop, "8")], .dialect(.interop(.draft(8)))),
        both(.head, [(interop, "2")], .dialect(.interop(.other))),
        both(.head, [(interop, "9")], .dialect(.interop(.other))),
        both(.head, [(interop, "-1")], .dialect(.interop(.other))),
        DialectCase(.head, [(interop, "six")], .method, .dialect(.neutral)),
        DialectCase(.head, [(interop, "6"), (interop, "6")], .method, .dialect(.neutral)),
        DialectCase(
            .put, [(interop, "1.5"), ("Upload-Complete", "?1")], .dialect(.interop(.final)),
            .dialect(.interop(.final))),
        both(.post, tus, .dialect(.tus(.post))),
        both(.head, tus, .dialect(.tus(.head))),
        both(.post, tus + [(override, "patch")], .dialect(.tus(.patch))),
        both(.post, tus + [(override, "DELETE")], .dialect(.tus(.delete))),
        both(.post, tus + [(override, "Head")], .dialect(.tus(.head))),
        both(.post, tus + [(override, "PUT")], .method),
        both(.patch, tus + [(override, "DELETE")], .dialect(.tus(.patch))),
    ]

    private static let rules4and5: [DialectCase] = [
        both(
            .patch, [("Content-Type", "Application/Partial-Upload; a=b")],
            .dialect(.interop(.final))),
        both(.post, [("Upload-Complete", "?0")], .dialect(.interop(.final))),
        both(.put, [("Upload-Complete", "?1;x")], .dialect(.interop(.final))),
        both(.patch, [("Upload-Complete", "?1")], .dialect(.interop(.final))),
        DialectCase(.put, [("Upload-Complete", "?2")], .method, .dialect(.contentRange)),
        DialectCase(.put, [("Upload-Complete", "?1, ?1")], .method, .dialect(.contentRange)),
        DialectCase(.put, [("Upload-Incomplete", "?0")], .method, .dialect(.contentRange)),
        DialectCase(
            .put, [("Content-Type", "application/partial-upload")], .method,
            .dialect(.contentRange)),
        DialectCase(.head, [("Upload-Complete", "?1")], .method, .dialect(.neutral)),
        both(
            .patch, [("Content-Type", "application/offset+octet-stream")], .dialect(.tus(.patch))),
    ]

    private static let rules6to9: [DialectCase] = [
        DialectCase(
            .post, [], .dialect(.contentRange), .method, query: "?uploadType=resumable&name=a"),
        DialectCase(.post, [], .badRequest, .dialect(.contentRange), query: "?uploadType=media"),
        DialectCase(.post, [("X-Goog-Resumable", "start")], .dialect(.contentRange), .method),
        DialectCase(.post, [("X-Upload-Content-Type", "a/b")], .dialect(.contentRange), .method),
        DialectCase(.post, [("X-Upload-Content-Length", "5")], .dialect(.contentRange), .method),
        DialectCase(.post, [("Upload-Length", "5")], .dialect(.tus(.post)), .method),
        DialectCase(.post, [("Upload-Defer-Length", "1")], .dialect(.tus(.post)), .method),
        DialectCase(.post, [("Upload-Concat", "partial")], .dialect(.tus(.post)), .method),
        DialectCase(.post, [], .badRequest, .dialect(.contentRange)),
        DialectCase(
            .post, [("Content-Type", "application/x-www-form-urlencoded")], .badRequest,
            .dialect(.contentRange)),
        DialectCase(
            .post, [("Upload-Content-Type", "a/b"), ("Upload-Content-Length", "5")], .badRequest,
            .dialect(.contentRange)),
        DialectCase(
            .post, [("X-Goog-Hash", "crc32c=AAAAAA==")], .badRequest, .dialect(.contentRange)),
        DialectCase(.post, [("Upload-Offset", "5")], .badRequest, .method),
        DialectCase(.post, [("Upload-Metadata", "a")], .badRequest, .method),
        DialectCase(.post, [("Upload-Checksum", "md5 a")], .badRequest, .method),
        DialectCase(.post, [("Upload-Incomplete", "?0")], .badRequest, .method),
        DialectCase(.post, [("Upload-Complete", "yes")], .badRequest, .method),
        DialectCase(.post, [(interop, "six")], .badRequest, .method),
        DialectCase(
            .post, [("Content-Type", "application/offset+octet-stream")], .badRequest, .method),
        DialectCase(
            .post, [("Content-Type", "Application/Partial-Upload; a")], .badRequest, .method),
        DialectCase(
            .post, [("Content-Range", "bytes 0-1/2")], .badRequest, .dialect(.contentRange)),
        DialectCase(.post, [(override, "PATCH")], .badRequest, .method),
        DialectCase(.put, [], .method, .dialect(.contentRange)),
        DialectCase(.head, [], .method, .dialect(.neutral)),
        DialectCase(.get, [], .method, .dialect(.neutral)),
        DialectCase(.delete, [], .method, .dialect(.neutral)),
        DialectCase(.patch, [], .method, .method),
        DialectCase(.patch, [("Content-Type", "text/plain")], .method, .method),
    ]
}

@Suite struct `The dialect of a request` {
    @Test(arguments: DialectCase.all) func `is read from its head in a fixed order (2)`(
        row: DialectCase
    ) throws {
        #expect(try chosen(row, at: "/uploads\(row.query)") == row.creation)
        #expect(try chosen(row, at: "/uploads/\(Self.token)\(row.query)") == row.resource)
    }

    @Test(arguments: [
        ("/uploads", true), ("/uploads/", true), ("/uploads?a=b", true), ("/uploads/short", false),
        ("/uploads//", false), ("/uploads/0123456789abcdefghijABCDEFGHIJ_-/", false),
    ]) func `a path names the creation endpoint, an upload, or nothing (1.1)`(
        path: String, isCreation: Bool
    ) {
        #expect(UploadPath(RequestTarget(path)) == (isCreation ? .creation : nil))
    }

    private static let token = "0123456789abcdefghijABCDEFGHIJ_-"

    private func chosen(_ row: DialectCase, at path: String) throws -> DialectCase.Choice {
        let request = Request(
            method: row.method, target: RequestTarget(path), fields: Fields(row.fields))
        let place = try #require(UploadPath(request.target))
        do throws(UploadError) {
            return .dialect(try ProtocolSelection(request, at: place))
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
    func `lists the server's abilities for all clients (3.7)`(path: String) async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let answer = await uploads.send(
            .options, path == "resource" ? url : path, [("Tus-Resumable", "0.1")])
        #expect(answer.status == .noContent)
        #expect(answer.fields["Upload-Limit"]?.hasPrefix("max-size=2147483648") == true)
    }

    /// The requests that may follow, by what the URL names.
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

    @Test func `says what a proxy lets through (7.4)`() async throws {
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
