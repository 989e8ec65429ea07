import FoundationEssentials
import TestSupport
import Testing

@testable import UploadClient

@Suite struct `The resume file` {
    private let folder = TemporaryFolder()
    private let place = ResumeFile.Place(url: "http://a/uploads/b", content: "layer:///content/c")

    private var name: String { "\(folder.path)/cache/uploads" }

    @Test func `returns where to resume until it is deleted`() throws {
        let memo = try ResumeFile(of: "film", in: name)
        #expect(memo.place == nil)
        try memo.keep(ResumeFile.Place(url: place.url + "/longer", content: place.content))
        try memo.keep(place)
        #expect(memo.place == place)
        memo.forget()
        #expect(try FileManager.default.contentsOfDirectory(atPath: name).isEmpty)
    }

    @Test func `is locked by one upload at a time`() throws {
        do {
            let memo = try ResumeFile(of: "film", in: name)
            try memo.keep(place)
            #expect(throws: UploadFailure.self) { try ResumeFile(of: "film", in: name) }
            #expect(try ResumeFile(of: "another film", in: name).place == nil)
        }
        #expect(try ResumeFile(of: "film", in: name).place == place)
    }

    @Test(arguments: 0..<54) func `counts only when it was written whole`(length: Int) throws {
        try ResumeFile(of: "film", in: name).keep(place)
        let file = try #require(try FileManager.default.contentsOfDirectory(atPath: name).first)
        let whole = try #require(FileManager.default.contents(atPath: "\(name)/\(file)"))
        #expect(whole.count == 54)
        try Data(whole.prefix(length)).write(to: URL(filePath: "\(name)/\(file)"))
        #expect(try ResumeFile(of: "film", in: name).place == nil)
    }
}

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
