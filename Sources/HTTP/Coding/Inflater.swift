import Bytes
import CZlib

/// Decompresses bytes piece by piece; window and memory are those of the format, 40 KiB (H118, H150).
@safe package final class Inflater: @unchecked Sendable {
    // Sendable because one call at a time uses it: a body has one reader, which waits for each read, and
    // the pieces of a message come one after another.
    // zlib keeps the address of its own structure, so it lives in memory of its own.
    private let stream: UnsafeMutablePointer<z_stream>

    /// The bytes are not what the coding says: damaged, or a checksum is wrong.
    package struct Corruption: Error, Equatable {}

    /// What one call did.
    package struct Step: Equatable {
        /// Bytes taken from the input.
        package var consumed: Int
        /// Whether the content, or the member of a gzip file, is over, its checksum right.
        package var isOver: Bool
    }

    /// Decodes a content.
    convenience init(_ coding: ContentCoding) { self.init(windowBits: coding.windowBits()) }

    /// Decodes bytes that are wrapped in nothing, whatever window their sender used (RFC 1951).
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

    /// Decodes until the input is used up, the buffer is full, or the content is over.
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

    /// The same, behind what an array holds, until so many bytes more are there.
    package func inflate(
        _ input: ArraySlice<UInt8>, onto bytes: inout [UInt8], room: Int
    ) throws(Corruption) -> Step {
        var (code, rest) = (Z_OK, 0)
        bytes.append(atMost: room) { span in
            // What is written is at most as long as the room for it.
            unsafe span.withUnsafeMutableBufferPointer { storage, filled in
                let free = unsafe UnsafeMutableRawBufferPointer(
                    UnsafeMutableBufferPointer(rebasing: storage[filled..<(filled + room)]))
                let produced: Int
                (code, rest, produced) = unsafe decode(input, into: free)
                filled += produced
            }
        }
        return try step(code, consumed: input.count - rest)
    }

    /// Makes ready for another member of the same format.
    package func restart() { unsafe inflateReset(stream) }

    /// Whether the last byte that was taken ended a block.
    package var isBetweenBlocks: Bool { unsafe stream.pointee.data_type & 128 != 0 }

    /// The call itself: what it said, and how much input is left, and how much came out.
    private func decode(
        _ input: ArraySlice<UInt8>, into free: UnsafeMutableRawBufferPointer
    ) -> (code: Int32, rest: Int, produced: Int) {
        unsafe input.withUnsafeBufferPointer { input in
            // zlib does not write to its input; its C declaration only lacks the word.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = uInt(input.count)
            unsafe stream.pointee.next_out = free.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe stream.pointee.avail_out = uInt(free.count)
            let code = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
            // The pointer is not valid after this.
            unsafe stream.pointee.next_in = nil
            return unsafe (
                code, Int(stream.pointee.avail_in), free.count - Int(stream.pointee.avail_out)
            )
        }
    }

    private func step(_ code: Int32, consumed: Int) throws(Corruption) -> Step {
        switch code {
        // No progress is no failure: more input or more room is wanted.
        case Z_OK, Z_BUF_ERROR: return Step(consumed: consumed, isOver: false)
        case Z_STREAM_END: return Step(consumed: consumed, isOver: true)
        default: throw Corruption()
        }
    }
}
