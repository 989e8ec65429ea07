import Glibc
import TestSupport
import Testing

@testable import Blobs

@Suite struct `A lock of a folder` {
    private let folder = TemporaryFolder()

    @Test func `a second owner gets an error with the process id of the first`() throws {
        let first = try FolderLock(folder: folder.path)
        #expect {
            _ = try FolderLock(folder: folder.path)
        } throws: { error in
            guard case .held(by: .some) = error as? FolderLock.Refusal else { return false }
            return true
        }
        withExtendedLifetime(first) {}
    }

    @Test func `a released lock can be taken again`() throws {
        var first: FolderLock? = try FolderLock(folder: folder.path)
        withExtendedLifetime(first) {}
        first = nil
        _ = try FolderLock(folder: folder.path)
    }

    @Test func `a folder that cannot be created is distinguished from a locked one`() {
        #expect {
            _ = try FolderLock(folder: "/proc/nowhere/data")
        } throws: { error in
            guard case .disk = error as? FolderLock.Refusal else { return false }
            return true
        }
    }
}

@Suite struct `Checking a folder` {
    @Test func `creates nothing`() throws {
        let folder = TemporaryFolder()
        let path = "\(folder.path)/a/b"
        try FolderLock.check(folder: path)
        #expect(unsafe access("\(folder.path)/a", F_OK) != 0)
        _ = try FolderLock(folder: path)
        try FolderLock.check(folder: path)
        let names = try Folder(making: path).names()
        #expect(names == ["lock"])
    }

    @Test func `can happen at the same time as other checks`() async throws {
        let folder = TemporaryFolder()
        let path = folder.path
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<200 { try FolderLock.check(folder: "\(path)/a") } }
            }
            try await group.waitForAll()
        }
        #expect(try Folder(making: path).names().isEmpty)
    }

    @Test func `finds what would fail`() throws {
        let folder = TemporaryFolder()
        let file = "\(folder.path)/file"
        close(unsafe open(file, O_CREAT | O_WRONLY, 0o600))
        let link = "\(folder.path)/link"
        #expect(unsafe symlink("nowhere", link) == 0)
        let paths: [(String, DiskError.Kind)] = [
            (file, .notFolder), ("\(file)/a/b", .notFolder), (link, .missing),
            ("/proc/none/a", .missing), ("/proc/none", .missing),
        ]
        for (path, kind) in paths {
            expect(path: path, kind)
        }
    }

    private func expect(
        path: String, _ kind: DiskError.Kind, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(sourceLocation: sourceLocation) {
            try FolderLock.check(folder: path)
        } throws: { error in
            (error as? DiskError)?.kind == kind
        }
    }
}

@Suite struct `A disk error` {
    @Test(
        arguments: [
            (ENOSPC, .full), (EDQUOT, .full), (EFBIG, .full), (EROFS, .readOnly), (EIO, .broken),
            (ENOENT, .missing), (ENOTDIR, .notFolder), (EEXIST, .exists), (EACCES, .denied),
            (EPERM, .denied),
            (EMFILE, .tooManyOpen), (ENFILE, .tooManyOpen), (EBADF, .other),
        ] as [(Int32, DiskError.Kind)])
    func `has a kind by which a caller decides (11.7)`(
        code: Int32, kind: DiskError.Kind
    ) {
        let error = DiskError(operation: "pwrite", code: code)
        #expect(error.kind == kind)
        let reason = unsafe String(cString: strerror(code))
        #expect(error.reason == reason)
        #expect(error.description == "writing bytes failed: \(reason)")
    }

    @Test func `names what was attempted where no call failed`() {
        let error = DiskError(kind: .damaged, operation: "reading a record")
        #expect(error.description == "reading a record failed")
        #expect(error.reason == error.description)
    }
}
