internal import HTTP

/// One `permessage-deflate` of `Sec-WebSocket-Extensions`, or another extension (RFC 6455 §9.1).
struct CompressionOffer {
    /// What an offer becomes.
    struct Agreement: Equatable {
        var windowBits: Int
        /// The value of the answer's `Sec-WebSocket-Extensions`.
        var line: String
    }

    private let name: [UInt8]
    private let parameters: [(name: [UInt8], value: [UInt8]?)]

    /// The first offer that can be kept to the letter; all others are declined without an error
    /// (H150).
    static func accept(
        _ fields: Fields, _ policy: WebSocketCompression
    ) -> (policy: WebSocketCompression, line: String)? {
        guard let text = fields.joined("Sec-WebSocket-Extensions") else { return nil }
        for offer in read(text) {
            guard let agreement = offer.agreement(policy) else { continue }
            var policy = policy
            policy.windowBits = agreement.windowBits
            return (policy, agreement.line)
        }
        return nil
    }

    /// The offers of a list; none when the list is malformed or longer than 256 (H57).
    static func read(_ text: String) -> [CompressionOffer] {
        guard let elements = FieldList.elements(of: text) else { return [] }
        var offers: [CompressionOffer] = []
        for element in elements {
            guard let offer = CompressionOffer(element) else { return [] }
            offers.append(offer)
        }
        return offers
    }

    private init?(_ element: Substring) {
        guard
            let parts = FieldList.pieces(of: element, at: UInt8(ascii: ";"))?
                .map({ part in Array(part.utf8)[...] }),
            let first = parts.first?.trimmingBlanks, first.isToken
        else { return nil }
        var parameters: [(name: [UInt8], value: [UInt8]?)] = []
        for part in parts.dropFirst() {
            let sign = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = part[..<sign].trimmingBlanks
            guard name.isToken else { return nil }
            guard sign < part.endIndex else {
                parameters.append((Array(name), nil))
                continue
            }
            var value = part[(sign + 1)...].trimmingBlanks
            if value.count >= 2, value.first == UInt8(ascii: "\""), value.last == value.first {
                value = value.dropFirst().dropLast()
            }
            // What is quoted must be a token all the same (RFC 6455 §9.1).
            guard value.isToken else { return nil }
            parameters.append((Array(name), Array(value)))
        }
        name = Array(first)
        self.parameters = parameters
    }

    /// What this offer becomes under a policy; `nil` to decline it (RFC 7692 §7.1).
    func agreement(_ policy: WebSocketCompression) -> Agreement? {
        guard name.isEqualIgnoringCase("permessage-deflate".utf8) else { return nil }
        var seen: Set<[UInt8]> = []
        var windowBits = policy.windowBits
        // A context kept would cost every idle socket its window.
        var line = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        for parameter in parameters {
            guard seen.insert(parameter.name).inserted else { return nil }
            switch String(decoding: parameter.name, as: UTF8.self) {
            case "server_no_context_takeover", "client_no_context_takeover":
                guard parameter.value == nil else { return nil }
            case "server_max_window_bits":
                // zlib cannot keep to a window of eight bits, so that offer is declined.
                guard let bits = parameter.value.flatMap(Self.windowBits), bits >= 9 else {
                    return nil
                }
                windowBits = min(windowBits, bits)
                line += "; server_max_window_bits=\(windowBits)"
            case "client_max_window_bits":
                // A hint: the decompressor has room for the largest window anyway.
                guard parameter.value.map({ Self.windowBits($0) != nil }) ?? true else {
                    return nil
                }
            default: return nil
            }
        }
        return Agreement(windowBits: windowBits, line: line)
    }

    /// 8…15, in digits without a leading zero.
    private static func windowBits(_ value: [UInt8]) -> Int? {
        guard value.first != UInt8(ascii: "0"), let bits = Int64(decimal: value) else { return nil }
        return (8...15).contains(bits) ? Int(bits) : nil
    }
}

/// Compresses whole messages, each by itself (RFC 7692 §7.2.1).
enum MessageDeflater {
    /// The payload of a compressed frame.
    ///
    /// - Parameter windowBits: 9…15.
    static func deflate(_ bytes: [UInt8], windowBits: Int) -> [UInt8] {
        let deflater = Deflater(window: windowBits, size: bytes.count)
        // The empty block at the end is left off; the receiver puts it back.
        return deflater.compress(bytes.span, .sync).dropLast(MessageInflater.tail.count)
    }
}

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
    /// - Parameter limit: The most bytes the output may come to have.
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
