internal import CZlib

/// Compresses whole messages, each by itself (RFC 7692 §7.2.1).
enum MessageDeflater {
    /// The payload of a compressed frame.
    ///
    /// - Parameter windowBits: 9…15.
    static func deflate(_ octets: [UInt8], windowBits: Int) -> [UInt8] {
        var stream = unsafe z_stream()
        var payload: [UInt8] = []
        // zlib looks at the structure's address, so all of it happens while it stays where it is;
        // the pointers are valid that long, and the bound leaves room for the flush.
        unsafe withUnsafeMutablePointer(to: &stream) { stream in
            let code = unsafe zlib_deflate_init(stream, 6, Int32(-windowBits), 8)
            precondition(code == Z_OK, "zlib has no memory for a window")
            defer { unsafe deflateEnd(stream) }
            let room = unsafe Int(deflateBound(stream, uLong(octets.count))) + 16
            payload = [UInt8](repeating: 0, count: room)
            unsafe octets.withUnsafeBufferPointer { input in
                unsafe payload.withUnsafeMutableBufferPointer { output in
                    // zlib does not write to its input; its declaration only lacks the word.
                    unsafe stream.pointee.next_in = UnsafeMutablePointer(
                        mutating: input.baseAddress)
                    unsafe stream.pointee.avail_in = uInt(input.count)
                    unsafe stream.pointee.next_out = output.baseAddress
                    unsafe stream.pointee.avail_out = uInt(output.count)
                    _ = unsafe CZlib.deflate(stream, Z_SYNC_FLUSH)
                }
            }
            // The empty block at the end is left off; the receiver puts it back.
            payload.removeLast(unsafe Int(stream.pointee.avail_out) + 4)
        }
        return payload
    }
}
