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
        #expect(answer.fields["Allow"] == "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS")
        #expect(answer.fields["Upload-Limit"]?.hasPrefix("max-size=2147483648") == true)
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
