import FoundationEssentials
import TestSupport
import Testing

@testable import UploadClient

@Suite struct `A resume file` {
    private let folder = TemporaryFolder()
    private let upload = ResumeFile.StartedUpload(
        url: "http://a/uploads/b", content: "layer:///content/c")

    private var name: String { "\(folder.path)/cache/uploads" }

    @Test func `returns where to resume until it is deleted`() throws {
        let resumeFile = try ResumeFile(of: "film", in: name)
        #expect(resumeFile.startedUpload == nil)
        try resumeFile.keep(
            ResumeFile.StartedUpload(url: upload.url + "/longer", content: upload.content))
        try resumeFile.keep(upload)
        #expect(resumeFile.startedUpload == upload)
        resumeFile.forget()
        #expect(try FileManager.default.contentsOfDirectory(atPath: name).isEmpty)
    }

    @Test func `is locked by one upload at a time`() throws {
        do {
            let resumeFile = try ResumeFile(of: "film", in: name)
            try resumeFile.keep(upload)
            #expect(throws: UploadFailure.self) { try ResumeFile(of: "film", in: name) }
            #expect(try ResumeFile(of: "another film", in: name).startedUpload == nil)
        }
        #expect(try ResumeFile(of: "film", in: name).startedUpload == upload)
    }

    @Test(arguments: 0..<54) func `is valid only if it was written completely`(length: Int) throws {
        try ResumeFile(of: "film", in: name).keep(upload)
        let file = try #require(try FileManager.default.contentsOfDirectory(atPath: name).first)
        let whole = try #require(FileManager.default.contents(atPath: "\(name)/\(file)"))
        #expect(whole.count == 54)
        try Data(whole.prefix(length)).write(to: URL(filePath: "\(name)/\(file)"))
        #expect(try ResumeFile(of: "film", in: name).startedUpload == nil)
    }
}

@Suite struct `The target of an upload` {
    private static let conversation = "f3cc7b32-3c92-11e4-baad-164230d1df67"

    @Test(arguments: [
        conversation, "layer:///conversations/\(conversation)",
        "http://127.0.0.1:8080/apps/1/conversations/\(conversation)",
    ])
    func `is given by an id or a URL`(text: String) throws {
        for server in ["http://a", "http://a/"] {
            let target = try UploadTarget(
                server: server, application: "1a", token: "t", conversation: text)
            #expect(
                target.contents == "http://a/apps/1a/conversations/\(Self.conversation)/content")
        }
    }

    @Test(arguments: ["", "/", "x", "..", "1?a", "1%2F", "ä", "1\r\n"])
    func `cannot leave its path`(text: String) {
        #expect(throws: UploadFailure.self) {
            try UploadTarget(server: "http://a", application: text, token: "t", conversation: "1")
        }
        #expect(throws: UploadFailure.self) {
            try UploadTarget(server: "http://a", application: "1", token: "t", conversation: text)
        }
    }
}
