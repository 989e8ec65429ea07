import CZlib

/// An incremental compressor (RFC 1951) in the format of a ``ContentCoding`` or as raw deflate.
///
/// Not thread-safe.
@safe public final class Deflater {
    // zlib stores the address of its own structure, so the structure is allocated from `init` to
    // `deinit`; the pointer does not leave this class.
    private let stream: UnsafeMutablePointer<z_stream>

    /// What happens with output that zlib still buffers after a piece.
    public enum Flush: Sendable {
        /// It remains buffered.
        case none
        /// It is returned, so that the receiver can decode everything so far (events of a stream).
        case sync
        /// It is returned and the content ends.
        case finish
    }

    /// Starts compressing a content.
    ///
    /// - Parameter size: The number of bytes to come, if known: short content uses a small window
    ///   and little memory, otherwise 256 KiB.
    public convenience init(_ coding: ContentCoding, size: Int? = nil) {
        let window = Self.window(for: size)
        self.init(window: window, bits: coding.windowBits(window))
    }

    /// Starts raw deflate.
    ///
    /// - Parameters:
    ///   - window: The largest window that the receiver supports, 9…15 bits.
    ///   - size: The number of bytes to come.
    package convenience init(window: Int, size: Int) {
        let window = min(Int32(window), Self.window(for: size))
        self.init(window: window, bits: -window)
    }

    private init(window: Int32, bits: Int32) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // For lists of messages, level 4 takes a fifth less time than level 6 for 4 % more bytes.
        let code = unsafe zlib_deflate_init(stream, 4, bits, max(1, window - 7))
        precondition(code == Z_OK, "zlib has no memory for a window")
    }

    /// The smallest window that holds that many bytes.
    private static func window(for size: Int?) -> Int32 {
        var window: Int32 = 15
        while window > 9, let size, size <= 1 << (window - 1) { window -= 1 }
        return window
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses a piece and returns the output that is ready.
    public func compress(_ bytes: Span<UInt8>, _ flush: Flush) -> [UInt8] {
        var compressed: [UInt8] = []
        let code: Int32 =
            switch flush {
            case .none: Z_NO_FLUSH
            case .sync: Z_SYNC_FLUSH
            case .finish: Z_FINISH
            }
        unsafe bytes.withUnsafeBufferPointer { bytes in
            // zlib does not write to its input; its C declaration only lacks `const`.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            unsafe stream.pointee.avail_in = uInt(bytes.count)
            // Output that leaves capacity unused is complete.
            var isFull = true
            while isFull { isFull = grow(&compressed, code, by: max(512, bytes.count / 4)) }
            // The pointer is invalid after this call.
            unsafe stream.pointee.next_in = nil
        }
        return compressed
    }

    /// Appends output of at most `capacity` bytes and returns whether it used all of them.
    private func grow(_ compressed: inout [UInt8], _ flush: Int32, by capacity: Int) -> Bool {
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { free, count in
            unsafe stream.pointee.next_out = free.baseAddress
            unsafe stream.pointee.avail_out = uInt(capacity)
            // Fails only by misuse: a finished stream, or missing input.
            let code = unsafe deflate(stream, flush)
            precondition(code != Z_STREAM_ERROR, "the content was finished before")
            count = unsafe capacity - Int(stream.pointee.avail_out)
        }
        compressed += piece
        return piece.count == capacity
    }
}
