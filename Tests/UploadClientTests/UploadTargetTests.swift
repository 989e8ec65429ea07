import Testing

@testable import UploadClient

@Suite struct `Where a file is brought` {
    private static let conversation = "f3cc7b32-3c92-11e4-baad-164230d1df67"

    @Test(arguments: [
        conversation, "layer:///conversations/\(conversation)",
        "http://127.0.0.1:8080/apps/1/conversations/\(conversation)",
    ])
    func `is said by an id or a URL`(text: String) throws {
        for server in ["http://a", "http://a/"] {
            let target = try UploadTarget(
                server: server, application: "1a", token: "t", conversation: text)
            #expect(
                target.contents == "http://a/apps/1a/conversations/\(Self.conversation)/content")
        }
    }

    @Test(arguments: ["", "/", "x", "..", "1?a", "1%2F", "ä", "1\r\n"])
    func `is never outside the path it belongs to`(text: String) {
        #expect(throws: UploadFailure.self) {
            try UploadTarget(server: "http://a", application: text, token: "t", conversation: "1")
        }
        #expect(throws: UploadFailure.self) {
            try UploadTarget(server: "http://a", application: "1", token: "t", conversation: text)
        }
    }
}
