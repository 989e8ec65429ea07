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

@Suite struct `A disk error` {
    @Test(
        arguments: [
            (ENOSPC, .full), (EDQUOT, .full), (EFBIG, .full), (EROFS, .readOnly), (EIO, .broken),
            (ENOENT, .missing), (EEXIST, .exists), (EACCES, .denied), (EPERM, .denied),
            (EMFILE, .tooManyOpen), (ENFILE, .tooManyOpen), (EBADF, .other),
        ] as [(Int32, DiskError.Kind)])
    func `has a kind that tells what a caller can do (11.7)`(
        code: Int32, kind: DiskError.Kind
    ) {
        let error = DiskError(operation: "pwrite", code: code)
        #expect(error.kind == kind)
        let reason = unsafe String(cString: strerror(code))
        #expect(error.reason == reason)
        #expect(error.description == "pwrite: \(reason)")
    }
}
