import Testing

@testable import Uploads

@Suite struct `The Upload-Concat of a request` {
    @Test(
        arguments: [
            ("partial", .partial),
            ("final;/uploads/a", .final(["/uploads/a"])),
            ("final;a https://h/uploads/b a", .final(["a", "https://h/uploads/b", "a"])),
        ] as [(String, UploadConcat)])
    func `is partial or a list (6.10)`(text: String, concat: UploadConcat) throws {
        #expect(try UploadConcat(text) == concat)
    }

    @Test(arguments: [
        "", "Partial", "partial ", "final", "final;", "final; a", "final;a ", "final;a  b",
        "Final;a", "final,a", "final;a\tb", "final;ä", "partial;a",
        "final;" + String(repeating: "a", count: UploadConcat.limit),
    ])
    func `refuses anything else (6.10)`(text: String) {
        #expect(throws: UploadError.self) { try UploadConcat(text) }
    }

    private static let token = "abcdefghijklmnopqrstuvwxyz012345"

    private func token(_ reference: String, from path: String = "/uploads") throws -> String {
        try UploadReference.token(
            reference, from: path, authorities: ["chat.example", "10.0.0.1:8080"]
        ).text
    }

    @Test(arguments: [
        "/uploads/TOKEN", "uploads/TOKEN", "./uploads/TOKEN", "/x/../uploads/TOKEN",
        "https://chat.example/uploads/TOKEN", "HTTP://CHAT.example/uploads/TOKEN",
        "http://10.0.0.1:8080/uploads/TOKEN", "//chat.example/uploads/TOKEN",
        "https://chat.example/behind/a/proxy/uploads/TOKEN", "../../uploads/TOKEN",
    ])
    func `lists uploads by absolute and relative references (6.10)`(text: String) throws {
        let reference = text.replacing("TOKEN", with: Self.token)
        #expect(try token(reference) == Self.token)
    }

    @Test func `resolves a reference against the folder of the request (6.10)`() throws {
        #expect(try token(Self.token, from: "/uploads/") == Self.token)
        #expect(throws: UploadError.notFound) { try token(Self.token, from: "/uploads") }
    }

    @Test(arguments: [
        "https://evil.example/uploads/TOKEN", "//evil.example/uploads/TOKEN",
        "https://chat.example:444/uploads/TOKEN", "https://chat.example@evil/uploads/TOKEN",
        "ftp://chat.example/uploads/TOKEN", "https:/uploads/TOKEN", "urn:uploads/TOKEN",
        "https://",
    ])
    func `refuses another server and what is no URL (6.10)`(text: String) {
        let error = #expect(throws: UploadError.self) {
            try token(text.replacing("TOKEN", with: Self.token))
        }
        #expect(error != .notFound)
    }

    @Test(arguments: [
        "/uploads/", "/uploads/short", "/download/TOKEN", "/uploads/TOKEN/more",
        "/uploads/TOKEN?x", "/uploads/TOKEN#x", "/uploads%2FTOKEN", "https://chat.example",
    ])
    func `names nothing by another path (6.10)`(text: String) {
        #expect(throws: UploadError.notFound) {
            try token(text.replacing("TOKEN", with: Self.token))
        }
    }
}
