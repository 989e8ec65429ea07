/// A message whose fragments are still coming.
struct OpenMessage: Sendable {
    private let isText: Bool
    private let inflater: MessageInflater?
    /// How many frames it came in so far.
    var fragments = 0
    /// Octets of payload as they came.
    private(set) var received = 0
    private var octets: [UInt8] = []
    private var check = UTF8Check()

    init(isText: Bool, isCompressed: Bool) {
        self.isText = isText
        inflater = isCompressed ? MessageInflater() : nil
    }

    /// Takes some of the payload; text is checked as it comes (H137).
    mutating func take(
        _ input: Span<UInt8>, _ range: Range<Int>, key: UInt32, place: UInt64, limit: Int
    ) throws(WebSocketFault) {
        received += range.count
        if let inflater {
            var piece: [UInt8] = []
            piece.append(unmasking: input, range, key: key, place: place)
            try inflate { octets throws(WebSocketFault) in
                try inflater.inflate(piece, into: &octets, limit: limit)
            }
        } else {
            let known = octets.count
            octets.append(unmasking: input, range, key: key, place: place)
            try checkText(from: known)
        }
    }

    /// The whole message.
    mutating func end(limit: Int) throws(WebSocketFault) -> WebSocketMessage {
        if let inflater {
            try inflate { octets throws(WebSocketFault) in
                try inflater.end(into: &octets, limit: limit)
            }
        }
        guard isText else { return .binary(octets) }
        guard check.isComplete else { throw .notText }
        return .text(octets)
    }

    /// Text that came before a fault is checked before the fault is told, wherever the input was cut.
    private mutating func inflate(
        _ decode: (inout [UInt8]) throws(WebSocketFault) -> Void
    ) throws(WebSocketFault) {
        let known = octets.count
        var fault: WebSocketFault?
        do throws(WebSocketFault) { try decode(&octets) } catch { fault = error }
        try checkText(from: known)
        if let fault { throw fault }
    }

    private mutating func checkText(from index: Int) throws(WebSocketFault) {
        guard isText else { return }
        var check = check
        guard check.take(octets.span.extracting(index..<octets.count)) else { throw .notText }
        self.check = check
    }
}

extension WebSocketFault {
    fileprivate static let notText = WebSocketFault(.invalidData, "H137", "text is not UTF-8")
}
