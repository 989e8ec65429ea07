import Glibc

extension Descriptor {
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
