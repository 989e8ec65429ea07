import CZlib

/// Decompresses octets piece by piece; window and memory are those of the format, 40 KiB (H118).
@safe final class Inflater: @unchecked Sendable {
    // Sendable because one call at a time uses it: a body has one reader, which waits for each read.
    // zlib keeps the address of its own structure, so it lives in memory of its own.
    private let stream: UnsafeMutablePointer<z_stream>

    /// The octets are not what the coding says: damaged, or a checksum is wrong.
    struct Corruption: Error, Equatable {}

    /// What one call did.
    struct Step: Equatable {
        /// Octets taken from the input.
        var consumed: Int
        /// Whether the content, or the member of a gzip file, is over, its checksum right.
        var isOver: Bool
    }

    init(_ coding: ContentCoding) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let code = unsafe zlib_inflate_init(stream, coding.windowBits())
        precondition(code == Z_OK, "zlib has no memory for a window")
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decodes until the input is used up, the buffer is full, or the content is over.
    func inflate(
        _ input: ArraySlice<UInt8>, into buffer: inout BodyBuffer
    ) throws(Corruption) -> Step {
        var code = Z_OK
        var rest = 0
        unsafe input.withUnsafeBufferPointer { input in
            // zlib does not write to its input; its C declaration only lacks the word.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = uInt(input.count)
            unsafe buffer.fill { free in
                unsafe stream.pointee.next_out = free.baseAddress?.assumingMemoryBound(
                    to: UInt8.self)
                unsafe stream.pointee.avail_out = uInt(free.count)
                unsafe code = CZlib.inflate(stream, Z_NO_FLUSH)
                return unsafe free.count - Int(stream.pointee.avail_out)
            }
            rest = unsafe Int(stream.pointee.avail_in)
            // The pointer is not valid after this.
            unsafe stream.pointee.next_in = nil
        }
        switch code {
        // No progress is no failure: more input or more room is wanted.
        case Z_OK, Z_BUF_ERROR: return Step(consumed: input.count - rest, isOver: false)
        case Z_STREAM_END: return Step(consumed: input.count - rest, isOver: true)
        default: throw Corruption()
        }
    }

    /// Makes ready for another member of the same format.
    func restart() { unsafe inflateReset(stream) }
}
