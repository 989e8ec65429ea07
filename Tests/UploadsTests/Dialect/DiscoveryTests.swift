import HTTP
import Testing

@testable import Uploads

@Suite struct `OPTIONS` {
    private let house = House()

    @Test(arguments: ["/uploads", "/uploads/", "resource", "/uploads/none", "*"])
    func `says what the server can do, to everybody (3.7)`(path: String) async throws {
        let uploads = try await house.open()
        let url = try await uploads.create(House.draft(length: 3))
        let answer = await uploads.send(
            .options, path == "resource" ? url : path, [("Tus-Resumable", "0.1")])
        #expect(answer.status == .noContent)
        #expect(answer.fields["Upload-Limit"]?.hasPrefix("max-size=2147483648") == true)
    }

    /// The requests that may follow, by what the URL names.
    @Test func `lists exactly the methods that an upload accepts in its state (ruling 22)`()
        async throws
    {
        let uploads = try await house.open()
        func allowed(_ url: String) async -> String? {
            await uploads.send(.options, url).fields["Allow"]
        }
        let all = "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS"
        let url = try await uploads.create(House.draft(length: 3))
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
        let behind = House { $0.maxAppendSize = 1000 }
        let uploads = try await behind.open()
        let limit = "max-size=2147483648, max-append-size=1000"
        #expect(await uploads.send(.options, "/uploads").fields["Upload-Limit"] == limit)
        let url = try await uploads.create(House.draft(length: 3))
        let client = InteropClient(uploads: uploads, version: 8)
        let status = await client.send(.head, url)
        #expect(status.fields["Upload-Limit"] == limit + ", max-age=86400")
    }
}
