import CLinux
import Glibc

extension Descriptor {
    /// Copies bytes of another file to a position of this one.
    ///
    /// By `copy_file_range`, so that nothing passes through this process and a file system that can
    /// share blocks copies nothing at all; piece by piece where the kernel says that these two files
    /// do not allow it.
    ///
    /// - Throws: ``DiskError/Kind/damaged`` when the source ends before the range does.
    func copy(
        _ range: Range<Int64>, of source: Descriptor, to position: Int64, inKernel: Bool = true
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
                    guard Descriptor.forbidsSharing(error.code) else { throw error }
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
        _ count: Int, of source: Descriptor, from: Int64, to: Int64
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
