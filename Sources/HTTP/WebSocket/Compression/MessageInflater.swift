internal import CZlib

/// Decompresses one message as its pieces come (RFC 7692 §7.2.2).
///
/// Lives as long as the message: nothing is kept for the next one.
@safe final class MessageInflater: @unchecked Sendable {
    /// What the sender left off at the end: an empty block without compression.
    private static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]
    private static let pieceSize = 16_384

    // Sendable because it belongs to one message, which its socket's decoder alone reads, piece by piece.
    // zlib keeps the address of its own structure, so it lives in memory of its own, from `init` to
    // `deinit`.
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // Raw deflate, and room for the largest window, whatever the client uses.
        let code = unsafe zlib_inflate_init(stream, -15)
        precondition(code == Z_OK, "zlib has no memory for a window")
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decodes a piece behind what is known.
    ///
    /// - Parameter limit: The most octets the output may come to have.
    func inflate(
        _ input: [UInt8], into output: inout [UInt8], limit: Int
    ) throws(WebSocketFault) {
        // The pointer to the input is used during this call only; zlib does not write there.
        let fault = unsafe input.withUnsafeBufferPointer { input -> WebSocketFault? in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = uInt(input.count)
            var hasMore = true
            while hasMore {
                let room = min(Self.pieceSize, limit + 1 - output.count)
                let code = fill(&output, room)
                // Before what was decoded is judged, so that it does not matter how it was cut.
                if output.count > limit { return .tooBig }
                switch code {
                case Z_OK, Z_BUF_ERROR: break
                // A client may end its stream with every message; another block follows (§7.2.3.4).
                case Z_STREAM_END: unsafe inflateReset(stream)
                default: return WebSocketFault(.invalidData, "H150", "not a deflated message")
                }
                let (rest, free) = unsafe (stream.pointee.avail_in, stream.pointee.avail_out)
                hasMore = rest > 0 || free == 0
            }
            return nil
        }
        if let fault { throw fault }
    }

    /// The message is over.
    func end(into output: inout [UInt8], limit: Int) throws(WebSocketFault) {
        try inflate(Self.tail, into: &output, limit: limit)
        // Anywhere but between two blocks, the message broke off.
        guard unsafe stream.pointee.data_type & 128 != 0 else {
            throw WebSocketFault(.invalidData, "H150", "a deflated message breaks off")
        }
    }

    /// Decodes up to so many octets.
    private func fill(_ output: inout [UInt8], _ room: Int) -> Int32 {
        if output.capacity - output.count < room {
            output.reserveCapacity(max(output.count + room, 2 * output.count))
        }
        var code = Z_OK
        output.append(addingCapacity: room) { (span: inout OutputSpan<UInt8>) in
            // zlib writes at most `avail_out` octets, for which there is room.
            unsafe span.withUnsafeMutableBufferPointer { free, filled in
                unsafe stream.pointee.next_out = free.baseAddress
                unsafe stream.pointee.avail_out = uInt(room)
                unsafe code = CZlib.inflate(stream, Z_SYNC_FLUSH)
                filled += unsafe room - Int(stream.pointee.avail_out)
            }
        }
        return code
    }
}
