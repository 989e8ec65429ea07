import Blobs
import FoundationEssentials
import TestSupport
import Testing

@Suite struct `A folder that is being filled` {
    private let folder = TemporaryFolder()
    private var path: String { "\(folder.path)/draft" }

    @Test func `is marked as unfinished until it is finished`() throws {
        let draft = try DraftFolder(at: path, for: "backup")
        #expect(DraftFolder.isUnfinished(path))
        try draft.finish()
        #expect(!DraftFolder.isUnfinished(path))
    }

    @Test func `is resumed only by the same work`() throws {
        var draft: DraftFolder? = try DraftFolder(at: path, for: "backup")
        try write("half")
        withExtendedLifetime(draft) {}
        draft = nil
        #expect(throws: DraftFolder.Refusal.notEmpty) {
            try DraftFolder(at: path, for: "restore")
        }
        draft = try DraftFolder(at: path, for: "backup")
        try draft?.finish()
        #expect(throws: DraftFolder.Refusal.notEmpty) { try DraftFolder(at: path, for: "backup") }
    }

    @Test func `is filled by one process at a time`() throws {
        let draft = try DraftFolder(at: path, for: "backup")
        #expect {
            try DraftFolder(at: path, for: "backup")
        } throws: { error in
            guard case .held? = error as? DraftFolder.Refusal else { return false }
            return true
        }
        withExtendedLifetime(draft) {}
    }

    @Test func `is rejected when it has files, which stay unchanged`() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        try write("holiday.jpg")
        #expect(throws: DraftFolder.Refusal.notEmpty) { try DraftFolder(at: path, for: "backup") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["holiday.jpg"])
    }

    @Test(arguments: ["lock", "lost+found"])
    func `may contain names that are not data`(name: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        try write(name)
        _ = try DraftFolder(at: path, for: "backup")
    }

    @Test func `copies, empties and deletes files`() throws {
        let draft = try DraftFolder(at: path, for: "backup")
        try write("source")
        try draft.copy(BlobFile(at: "\(path)/source"), to: "target")
        #expect(FileManager.default.contents(atPath: "\(path)/target") == Data("source".utf8))
        try draft.make("target")
        #expect(FileManager.default.contents(atPath: "\(path)/target") == Data())
        try draft.remove("target")
        #expect(!FileManager.default.fileExists(atPath: "\(path)/target"))
    }

    private func write(_ name: String) throws {
        try Data(name.utf8).write(to: URL(filePath: "\(path)/\(name)"))
    }
}
