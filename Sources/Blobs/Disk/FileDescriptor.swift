import CLinux
import Glibc
import SystemSupport

/// An open file, closed when the last holder lets go.
///
/// A download keeps one, so a file deleted meanwhile is still read to its end.
public final class FileDescriptor: Sendable {
    /// The number the system knows the file by; valid as long as this object lives.
    public let number: Int32

    /// Opens a file; the last descriptors are left to others (H183).
    init(opening path: String, _ flags: Int32, mode: mode_t = 0o600) throws(DiskError) {
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

extension FileDescriptor {
    /// Writes all bytes at a position; one call may take fewer than it is given.
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

    /// Reads at most `count` bytes from a position; fewer only where the file ends.
    func read(_ count: Int, at position: Int64) throws(DiskError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try read(into: &bytes, at: position)
        bytes.removeLast(count - got)
        return bytes
    }

    /// Fills an array from a position; returns how many bytes there were before the end.
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
}

extension FileDescriptor {
    /// Copies bytes of another file to a position of this one.
    ///
    /// By `copy_file_range`, so that nothing passes through this process and a file system that can
    /// share blocks copies nothing at all; piece by piece where the kernel says that these two files
    /// do not allow it.
    ///
    /// - Throws: ``DiskError/Kind/damaged`` when the source ends before the range does.
    func copy(
        _ range: Range<Int64>, of source: FileDescriptor, to position: Int64, inKernel: Bool = true
    ) throws(DiskError) {
        var done: Int64 = 0
        var asksKernel = inKernel
        while done < range.upperBound - range.lowerBound {
            let (from, to) = (range.lowerBound + done, position + done)
            let count = Int(min(range.upperBound - from, 8 << 20))
            let copied: Int
            if asksKernel {
                do throws(DiskError) {
                    copied = try copyInKernel(count, of: source, from: from, to: to)
                } catch {
                    guard FileDescriptor.forbidsSharing(error.code) else { throw error }
                    asksKernel = false
                    continue
                }
            } else {
                let bytes = try source.read(min(count, 256 << 10), at: from)
                try write(bytes.span, at: to)
                copied = bytes.count
            }
            guard copied > 0 else { throw DiskError(kind: .damaged, operation: "copy") }
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

    /// Across file systems, on ones without the call, and on kernels without it.
    private static func forbidsSharing(_ code: Int32) -> Bool {
        [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP].contains(code)
    }
}
