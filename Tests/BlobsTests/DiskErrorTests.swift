import Glibc
import Testing

@testable import Blobs

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
