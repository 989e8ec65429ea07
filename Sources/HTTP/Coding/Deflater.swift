import CZlib

/// Compresses bytes piece by piece (RFC 1951), in the wrapping of a ``ContentCoding`` or in none.
///
/// Belongs to whoever made it; not to be shared between threads.
@safe public final class Deflater {
    // zlib keeps the address of its own structure, so it lives in memory of its own from `init` to
    // `deinit`; nobody else sees the pointer.
    private let stream: UnsafeMutablePointer<z_stream>

    /// What becomes of the bytes that zlib still holds back after a piece.
    public enum Flush: Sendable {
        /// They wait for more.
        case none
        /// They leave, so that the receiver can read everything up to here (events of a stream).
        case sync
        /// They leave, and the content is over.
        case finish
    }

    /// Starts a content.
    ///
    /// - Parameter size: Bytes to come, where that is known: a short content takes a small window
    ///   and little memory, 256 KiB otherwise.
    public convenience init(_ coding: ContentCoding, size: Int? = nil) {
        let window = Self.window(for: size)
        self.init(window: window, bits: coding.windowBits(window))
    }

    /// Starts bytes that are wrapped in nothing.
    ///
    /// - Parameters:
    ///   - window: The largest one that the receiver has room for, 9…15 bits.
    ///   - size: Bytes to come.
    package convenience init(window: Int, size: Int) {
        let window = min(Int32(window), Self.window(for: size))
        self.init(window: window, bits: -window)
    }

    private init(window: Int32, bits: Int32) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // On lists of messages level 4 takes a fifth less time than 6 for 4 % more bytes.
        let code = unsafe zlib_deflate_init(stream, 4, bits, max(1, window - 7))
        precondition(code == Z_OK, "zlib has no memory for a window")
    }

    /// The smallest window that holds so many bytes.
    private static func window(for size: Int?) -> Int32 {
        var window: Int32 = 15
        while window > 9, let size, size <= 1 << (window - 1) { window -= 1 }
        return window
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses a piece and gives what zlib has ready.
    public func compress(_ bytes: Span<UInt8>, _ flush: Flush) -> [UInt8] {
        var compressed: [UInt8] = []
        let code: Int32 =
            switch flush {
            case .none: Z_NO_FLUSH
            case .sync: Z_SYNC_FLUSH
            case .finish: Z_FINISH
            }
        unsafe bytes.withUnsafeBufferPointer { bytes in
            // zlib does not write to its input; its C declaration only lacks the word.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            unsafe stream.pointee.avail_in = uInt(bytes.count)
            // Output that did not fill its room is all there is.
            var isFull = true
            while isFull { isFull = grow(&compressed, code, by: max(512, bytes.count / 4)) }
            // The pointer is not valid after this.
            unsafe stream.pointee.next_in = nil
        }
        return compressed
    }

    /// Appends what zlib writes into room for so many bytes, and says whether it filled it.
    private func grow(_ compressed: inout [UInt8], _ flush: Int32, by room: Int) -> Bool {
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: room) { free, count in
            unsafe stream.pointee.next_out = free.baseAddress
            unsafe stream.pointee.avail_out = uInt(room)
            // Its only failures are misuse: a finished stream, or input that is gone.
            let code = unsafe deflate(stream, flush)
            precondition(code != Z_STREAM_ERROR, "a finished content goes on")
            count = unsafe room - Int(stream.pointee.avail_out)
        }
        compressed += piece
        return piece.count == room
    }
}
