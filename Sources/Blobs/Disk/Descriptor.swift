import Descriptors
import Glibc

/// An open file, closed when the last holder lets go.
///
/// A download keeps one, so a file deleted meanwhile is still read to its end.
public final class Descriptor: Sendable {
    /// The number the system knows the file by; valid as long as this object lives.
    public let number: Int32

    /// Opens a file; the last descriptors are left to others (H183).
    init(opening path: String, _ flags: Int32, mode: mode_t = 0o600) throws(DiskError) {
        let opened = try systemCall("open") {
            unsafe path.withCString { text in unsafe Glibc.open(text, flags | O_CLOEXEC, mode) }
        }
        guard DescriptorLimit.leavesSome(behind: opened, for: .file) else {
            _ = Glibc.close(opened)
            throw DiskError(operation: "open", code: EMFILE)
        }
        number = opened
    }

    deinit {
        // The result is of no use: everything that must last was synced before.
        _ = Glibc.close(number)
    }

    /// Size of the file, in bytes.
    func size() throws(DiskError) -> Int64 {
        var status = stat()
        try systemCall("fstat") { unsafe fstat(number, &status) }
        return Int64(status.st_size)
    }

    /// Makes the file's bytes and what is needed to find them again durable.
    func syncData() throws(DiskError) {
        try systemCall("fdatasync") { fdatasync(number) }
    }

    /// Makes the file and its attributes durable; on a folder, its names.
    func sync() throws(DiskError) {
        try systemCall("fsync") { fsync(number) }
    }
}
