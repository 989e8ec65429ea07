import Bytes
import CZlib

/// An incremental decompressor; it uses 40 KiB for window and state (H118, H150).
@safe package final class Inflater: @unchecked Sendable {
    // Sendable because calls do not overlap: a body has one reader, which awaits each read, and the
    // pieces of a message follow one another. zlib stores the address of its own structure, so the
    // structure is allocated.
    //
    // The pointer does not leave this class, which frees the structure in `deinit`.
    private let stream: UnsafeMutablePointer<z_stream>

    /// The bytes do not match the coding: they are damaged, or a checksum is wrong.
    package struct Corruption: Error, Equatable {}

    /// The result of one call.
    package struct Step: Equatable {
        /// Bytes consumed from the input.
        package var consumed: Int
        /// Whether the content, or the gzip member, has ended with a correct checksum.
        package var isOver: Bool
    }

    /// Starts decoding a content.
    convenience init(_ coding: ContentCoding) { self.init(windowBits: coding.windowBits()) }

    /// Starts decoding raw deflate of any window size (RFC 1951).
    package convenience init() { self.init(windowBits: -15) }

    private init(windowBits: Int32) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let code = unsafe zlib_inflate_init(stream, windowBits)
        precondition(code == Z_OK, "zlib has no memory for a window")
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decodes until the input is used up, the buffer is full or the content has ended.
    package func inflate(
        _ input: ArraySlice<UInt8>, into buffer: inout BodyBuffer
    ) throws(Corruption) -> Step {
        var (code, rest) = (Z_OK, 0)
        unsafe buffer.fill { free in
            let produced: Int
            (code, rest, produced) = unsafe decode(input, into: free)
            return produced
        }
        return try step(code, consumed: input.count - rest)
    }

    /// Appends decoded bytes to an array, at most `capacity`.
    package func inflate(
        _ input: ArraySlice<UInt8>, onto bytes: inout [UInt8], capacity: Int
    ) throws(Corruption) -> Step {
        var (code, rest) = (Z_OK, 0)
        bytes.append(atMost: capacity) { span in
            // The output is at most as long as its capacity.
            unsafe span.withUnsafeMutableBufferPointer { storage, filled in
                let free = unsafe UnsafeMutableRawBufferPointer(
                    UnsafeMutableBufferPointer(rebasing: storage[filled..<(filled + capacity)]))
                let produced: Int
                (code, rest, produced) = unsafe decode(input, into: free)
                filled += produced
            }
        }
        return try step(code, consumed: input.count - rest)
    }

    /// Prepares for another member of the same format.
    package func restart() { unsafe inflateReset(stream) }

    /// Whether the last consumed byte ended a block.
    package var isBetweenBlocks: Bool { unsafe stream.pointee.data_type & 128 != 0 }

    /// Calls zlib and returns its code, the remaining input and the number of bytes produced.
    private func decode(
        _ input: ArraySlice<UInt8>, into free: UnsafeMutableRawBufferPointer
    ) -> (code: Int32, rest: Int, produced: Int) {
        unsafe input.withUnsafeBufferPointer { input in
            // zlib does not write to its input; its C declaration only lacks `const`.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = uInt(input.count)
            unsafe stream.pointee.next_out = free.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe stream.pointee.avail_out = uInt(free.count)
            let code = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
            // The pointer is invalid after this call.
            unsafe stream.pointee.next_in = nil
            return unsafe (
                code, Int(stream.pointee.avail_in), free.count - Int(stream.pointee.avail_out)
            )
        }
    }

    private func step(_ code: Int32, consumed: Int) throws(Corruption) -> Step {
        switch code {
        // No progress is no error: more input or more capacity is needed.
        case Z_OK, Z_BUF_ERROR: return Step(consumed: consumed, isOver: false)
        case Z_STREAM_END: return Step(consumed: consumed, isOver: true)
        default: throw Corruption()
        }
    }
}
