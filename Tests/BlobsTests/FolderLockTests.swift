import Glibc
import TestSupport
import Testing

@testable import Blobs

@Suite struct `A folder's lock` {
    private let folder = TemporaryFolder()

    @Test func `a second holder is refused with the first one's number`() throws {
        let first = try FolderLock(folder: folder.path)
        #expect {
            _ = try FolderLock(folder: folder.path)
        } throws: { error in
            guard case .held(by: .some) = error as? FolderLock.Refusal else { return false }
            return true
        }
        withExtendedLifetime(first) {}
    }

    @Test func `letting go makes room for the next`() throws {
        var first: FolderLock? = try FolderLock(folder: folder.path)
        withExtendedLifetime(first) {}
        first = nil
        _ = try FolderLock(folder: folder.path)
    }

    @Test func `a folder that cannot be made is told apart from one that is held`() {
        #expect {
            _ = try FolderLock(folder: "/proc/nowhere/data")
        } throws: { error in
            guard case .disk = error as? FolderLock.Refusal else { return false }
            return true
        }
    }
}

@Suite struct `What a disk says` {
    @Test(
        arguments: [
            (ENOSPC, .full), (EDQUOT, .full), (EFBIG, .full), (EROFS, .readOnly), (EIO, .broken),
            (ENOENT, .missing), (EEXIST, .exists), (EACCES, .denied), (EPERM, .denied),
            (EMFILE, .tooManyOpen), (ENFILE, .tooManyOpen), (EBADF, .other),
        ] as [(Int32, DiskError.Kind)])
    func `is told apart by what a caller can do about it (11.7)`(
        code: Int32, kind: DiskError.Kind
    ) {
        let error = DiskError(operation: "pwrite", code: code)
        #expect(error.kind == kind)
        let reason = unsafe String(cString: strerror(code))
        #expect(error.reason == reason)
        #expect(error.description == "pwrite: \(reason)")
    }
}
