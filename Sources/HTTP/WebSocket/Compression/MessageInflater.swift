/// Decompresses one message as its pieces come (RFC 7692 §7.2.2).
///
/// Lives as long as the message: nothing is kept for the next one.
struct MessageInflater: Sendable {
    /// What the sender leaves off at the end: an empty block without compression.
    static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]
    private static let pieceSize = 16_384

    private let inflater = Inflater()

    /// Decodes a piece behind what is known.
    ///
    /// - Parameter limit: The most octets the output may come to have.
    func inflate(
        _ input: [UInt8], into output: inout [UInt8], limit: Int
    ) throws(WebSocketFault) {
        var rest = input[...]
        var isFull = true
        while !rest.isEmpty || isFull {
            let (known, room) = (output.count, min(Self.pieceSize, limit + 1 - output.count))
            let step = try? inflater.inflate(rest, onto: &output, room: room)
            // Before what was decoded is judged, so that it does not matter how it was cut.
            if output.count > limit { throw .tooBig }
            guard let step else {
                throw WebSocketFault(.invalidData, "H150", "not a deflated message")
            }
            rest = rest.dropFirst(step.consumed)
            // A client may end its stream with every message; another block follows (RFC 7692 §7.2.3.4).
            if step.isOver { inflater.restart() }
            isFull = output.count - known == room
        }
    }

    /// The message is over.
    func end(into output: inout [UInt8], limit: Int) throws(WebSocketFault) {
        try inflate(Self.tail, into: &output, limit: limit)
        // Anywhere else, the message broke off.
        guard inflater.isBetweenBlocks else {
            throw WebSocketFault(.invalidData, "H150", "a deflated message breaks off")
        }
    }
}
