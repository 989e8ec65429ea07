import Bytes
import Testing

@testable import Uploads

@Suite struct `The Upload-Metadata of a request` {
    @Test(
        arguments: [
            ("", nil, nil),
            (" \t", nil, nil),
            ("filename YS5wbmc=", "a.png", nil),
            ("filename YS5wbmc", "a.png", nil),
            ("name YS5wbmc=,filetype aW1hZ2UvcG5n", "a.png", "image/png"),
            ("type aW1hZ2UvcG5n ,\tname YS5wbmc= ", "a.png", "image/png"),
            ("name Yg==,filename YQ==", "a", nil),
            ("filename,name YQ==", "a", nil),
            ("filename ,filetype", nil, nil),
            // Not UTF-8, so there is no name.
            ("filename /w==", nil, nil),
            ("Filename YQ==", nil, nil),
            ("größe MQ==,is_private", nil, nil),
        ] as [(String, String?, String?)])
    func `is a list of pairs, of which four keys have a meaning (6.3)`(
        text: String, fileName: String?, mediaType: String?
    ) throws {
        let metadata = try UploadMetadata(text.utf8)
        #expect(metadata.fileName == fileName)
        #expect(metadata.mediaType == mediaType)
        #expect(metadata.raw == (text.allSatisfy(\.isWhitespace) ? nil : text))
    }

    @Test(
        arguments: [
            ("filename YQBiLnBuZw==", "ab.png", nil), ("filename AA==", "content", nil),
            ("filename Li4vYQBi,filetype aW1hZ2UvcG4AZw==", "ab", "application/octet-stream"),
            ("filetype AA==", nil, "application/octet-stream"),
        ] as [(String, String?, String?)])
    func `never puts U+0000 or a path into a name or a type (9.7)`(
        text: String, fileName: String?, mediaType: String?
    ) throws {
        let metadata = try UploadMetadata(text.utf8)
        let record = UploadRecord(
            UploadDraft(
                owner: UploadOwner(application: "app"), contentID: UploadFixture.content,
                mediaType: metadata.mediaType, length: 1, fileName: metadata.fileName),
            creation: .tus, at: 0, lifetime: 1)
        #expect(record.fileName == fileName)
        #expect(record.mediaType == mediaType)
    }

    @Test(arguments: [
        ",", "filename YQ==,", ",filename YQ==", "a,,b", "filename  YQ==", "filename YQ== x",
        "filename YQ=", "filename Y", "filename YR==", "filename Y Q", "filename !",
        "filename Y===",
        "filename YQ==,filename Yg==", "a,a", "a\tb YQ==", "filename YQ_=", "filename =",
    ])
    func `refuses anything else (6.3)`(text: String) {
        #expect(throws: UploadError.self) { try UploadMetadata(text.utf8) }
    }

    @Test func `is limited to 8 KiB and must be UTF-8 (6.3)`() throws {
        let value = "k " + String(repeating: "A", count: UploadMetadata.limit - 2)
        #expect(try UploadMetadata(value.utf8).raw == value)
        #expect(throws: UploadError.self) { try UploadMetadata(("x" + value).utf8) }
        #expect(throws: UploadError.self) { try UploadMetadata([0x61, 0xFF]) }
    }

    @Test func `distinguishes keys by their bytes (6.3)`() throws {
        // The same letter, composed and decomposed: two keys.
        let metadata = try UploadMetadata("\u{E9} YQ==,e\u{301} Yg==".utf8)
        #expect(metadata.raw != nil)
    }
}

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
    func `refuses another server and text that is no URL (6.10)`(text: String) {
        let error = #expect(throws: UploadError.self) {
            try token(text.replacing("TOKEN", with: Self.token))
        }
        #expect(error != .notFound)
    }

    @Test(arguments: [
        "/uploads/", "/uploads/short", "/download/TOKEN", "/uploads/TOKEN/more",
        "/uploads/TOKEN?x", "/uploads/TOKEN#x", "/uploads%2FTOKEN", "https://chat.example",
    ])
    func `refuses any other path (6.10)`(text: String) {
        #expect(throws: UploadError.notFound) {
            try token(text.replacing("TOKEN", with: Self.token))
        }
    }
}
