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
}
