import CLinux
import Glibc
import SystemSupport

/// An open file, closed when this object is released.
///
/// A download holds one, so it can read a file to its end even if the file is deleted meanwhile.
public final class FileDescriptor: Sendable {
    /// The number of the descriptor; valid as long as this object lives.
    public let number: Int32

    /// Opens a file; fails with `EMFILE` when only the reserved descriptors of the process are left (H183).
    init(opening path: String, _ flags: Int32, mode: mode_t = 0o600) throws(DiskError) {
        // The text of a path lives through the call.
        let opened = try systemCall("open") {
            unsafe path.withCString { text in unsafe Glibc.open(text, flags | O_CLOEXEC, mode) }
        }
        guard DescriptorLimit.leavesReserve(above: opened, for: .file) else {
            _ = Glibc.close(opened)
            throw DiskError(operation: "open", code: EMFILE)
        }
        number = opened
    }

    deinit {
        // A failure loses nothing: whatever must be durable has been synced before.
        _ = Glibc.close(number)
    }

    /// The size of the file, in bytes.
    func size() throws(DiskError) -> Int64 {
        var status = stat()
        // The structure lives through the call.
        try systemCall("fstat") { unsafe fstat(number, &status) }
        return Int64(status.st_size)
    }

    /// Makes the bytes of the file durable, with the metadata needed to read them (`fdatasync`).
    func syncData() throws(DiskError) {
        try systemCall("fdatasync") { fdatasync(number) }
    }

    /// Makes the file and its metadata durable (`fsync`); for a folder, the names in it.
    func sync() throws(DiskError) {
        try systemCall("fsync") { fsync(number) }
    }

    /// Writes all bytes at a position.
    func write(_ bytes: Span<UInt8>, at position: Int64) throws(DiskError) {
        var done = 0
        while done < bytes.count {
            let rest = bytes.extracting(droppingFirst: done)
            // The pointer lives only inside the call, and the count is the span's own.
            done += try systemCall("pwrite") {
                unsafe rest.withUnsafeBytes { source in
                    unsafe pwrite(number, source.baseAddress, source.count, Int(position) + done)
                }
            }
        }
    }

    /// Reads at most `count` bytes from a position; fewer only at the end of the file.
    func read(_ count: Int, at position: Int64) throws(DiskError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try read(into: &bytes, at: position)
        bytes.removeLast(count - got)
        return bytes
    }

    /// Fills an array from a position, and returns how many bytes were read before the end of the file.
    func read(into bytes: inout [UInt8], at position: Int64) throws(DiskError) -> Int {
        var done = 0
        while done < bytes.count {
            let from = done
            let got = try systemCall("pread") {
                // The pointer lives only inside the call and stays within the array.
                unsafe bytes.withUnsafeMutableBytes { target in
                    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[from...])
                    return unsafe pread(
                        number, rest.baseAddress, rest.count, Int(position) + from)
                }
            }
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// Copies a range of another file to a position of this one.
    ///
    /// It uses `copy_file_range`, so no bytes pass through this process, and a file system that can share
    /// blocks copies none. Where the kernel rejects that for these two files, they are read and written.
    ///
    /// - Throws: ``DiskError/Kind/damaged`` when the source ends before the range.
    func copy(
        _ range: Range<Int64>, of source: FileDescriptor, to position: Int64, inKernel: Bool = true
    ) throws(DiskError) {
        var done: Int64 = 0
        var usesKernel = inKernel
        while done < range.upperBound - range.lowerBound {
            let (from, to) = (range.lowerBound + done, position + done)
            let count = Int(min(range.upperBound - from, 8 << 20))
            let copied: Int
            if usesKernel {
                do throws(DiskError) {
                    copied = try copyInKernel(count, of: source, from: from, to: to)
                } catch {
                    guard FileDescriptor.isUnsupported(error.code) else { throw error }
                    usesKernel = false
                    continue
                }
            } else {
                let bytes = try source.read(min(count, 256 << 10), at: from)
                try write(bytes.span, at: to)
                copied = bytes.count
            }
            guard copied > 0 else { throw DiskError(kind: .damaged, operation: "copying bytes") }
            done += Int64(copied)
        }
    }

    private func copyInKernel(
        _ count: Int, of source: FileDescriptor, from: Int64, to: Int64
    ) throws(DiskError) -> Int {
        var (from, to) = (Int(from), Int(to))
        return try systemCall("copy_file_range") {
            // Both offsets live as long as the call.
            unsafe copy_file_range(source.number, &from, number, &to, count, 0)
        }
    }

    /// Whether `copy_file_range` is not available: between two file systems, on some file systems, and on
    /// some kernels.
    private static func isUnsupported(_ code: Int32) -> Bool {
        [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP].contains(code)
    }
}
