/// A message whose fragments are still coming.
struct OpenMessage: Sendable {
    private let isText: Bool
    private let isCompressed: Bool
    /// How many frames it came in so far.
    var fragments = 0
    /// Octets of payload as they came.
    private(set) var received = 0
    private var octets: [UInt8] = []
    private var check = UTF8Check()

    init(isText: Bool, isCompressed: Bool) {
        self.isText = isText
        self.isCompressed = isCompressed
    }

    /// Takes some of the payload; text is checked as it comes (H137).
    mutating func take(
        _ input: Span<UInt8>, _ range: Range<Int>, key: UInt32, place: UInt64, limit: Int
    ) throws(WebSocketFault) {
        received += range.count
        let known = octets.count
        octets.append(unmasking: input, range, key: key, place: place)
        try checkText(from: known)
    }

    /// The whole message.
    mutating func end(limit: Int) throws(WebSocketFault) -> WebSocketMessage {
        guard isText else { return .binary(octets) }
        guard check.isComplete else { throw .notText }
        return .text(octets)
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
