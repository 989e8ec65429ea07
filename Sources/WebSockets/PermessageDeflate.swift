internal import HTTP

/// One extension offered in `Sec-WebSocket-Extensions`, such as `permessage-deflate` (RFC 6455
/// §9.1).
struct CompressionOffer {
    /// The negotiated parameters of an accepted offer.
    struct Agreement: Equatable {
        var windowBits: Int
        /// The value of `Sec-WebSocket-Extensions` in the response.
        var line: String
    }

    private let name: [UInt8]
    private let parameters: [(name: [UInt8], value: [UInt8]?)]

    /// Accepts the first offer that can be met exactly; others are declined without an error
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

    /// Parses the offers of a list; none when the list is malformed or longer than 256 (H57).
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
            // A quoted value must be a token as well (RFC 6455 §9.1).
            guard value.isToken else { return nil }
            parameters.append((Array(name), Array(value)))
        }
        name = Array(first)
        self.parameters = parameters
    }

    /// The parameters to agree on under a policy; `nil` to decline the offer (RFC 7692 §7.1).
    func agreement(_ policy: WebSocketCompression) -> Agreement? {
        guard name.isEqualIgnoringCase("permessage-deflate".utf8) else { return nil }
        var seen: Set<[UInt8]> = []
        var windowBits = policy.windowBits
        // A retained context would cost every idle socket its window.
        var line = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        for parameter in parameters {
            guard seen.insert(parameter.name).inserted else { return nil }
            switch String(decoding: parameter.name, as: UTF8.self) {
            case "server_no_context_takeover", "client_no_context_takeover":
                guard parameter.value == nil else { return nil }
            case "server_max_window_bits":
                // zlib does not support a window of eight bits, so that offer is declined.
                guard let bits = parameter.value.flatMap(Self.windowBits), bits >= 9 else {
                    return nil
                }
                windowBits = min(windowBits, bits)
                line += "; server_max_window_bits=\(windowBits)"
            case "client_max_window_bits":
                // Only a hint: the decompressor supports the largest window anyway.
                guard parameter.value.map({ Self.windowBits($0) != nil }) ?? true else {
                    return nil
                }
            default: return nil
            }
        }
        return Agreement(windowBits: windowBits, line: line)
    }

    /// Parses 8…15 without a leading zero.
    private static func windowBits(_ value: [UInt8]) -> Int? {
        guard value.first != UInt8(ascii: "0"), let bits = Int64(decimal: value) else { return nil }
        return (8...15).contains(bits) ? Int(bits) : nil
    }
}

/// Compresses whole messages without a shared context (RFC 7692 §7.2.1).
enum MessageDeflater {
    /// The payload of a compressed frame.
    ///
    /// - Parameter windowBits: 9…15.
    static func deflate(_ bytes: [UInt8], windowBits: Int) -> [UInt8] {
        let deflater = Deflater(window: windowBits, size: bytes.count)
        // The final empty block is removed; the receiver appends it again.
        return deflater.compress(bytes.span, .sync).dropLast(MessageInflater.tail.count)
    }
}

/// Decompresses one message incrementally (RFC 7692 §7.2.2).
///
/// Made for each message; no context is retained.
struct MessageInflater: Sendable {
    /// The empty block that the sender removes at the end.
    static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]
    private static let pieceSize = 16_384

    private let inflater = Inflater()

    /// Decompresses a piece and appends the output.
    ///
    /// - Parameter limit: The largest size of the whole output in bytes.
    func inflate(
        _ input: [UInt8], into output: inout [UInt8], limit: Int
    ) throws(WebSocketFault) {
        var rest = input[...]
        var isFull = true
        while !rest.isEmpty || isFull {
            let (known, capacity) = (output.count, min(Self.pieceSize, limit + 1 - output.count))
            let step = try? inflater.inflate(rest, onto: &output, capacity: capacity)
            // The size is checked before errors, so that the result does not depend on how the
            // input is split.
            if output.count > limit { throw .tooBig }
            guard let step else {
                throw WebSocketFault(.invalidData, "H150", "not a deflated message")
            }
            rest = rest.dropFirst(step.consumed)
            // A client may end its deflate stream with every message; another block follows
            // (RFC 7692 §7.2.3.4).
            if step.isOver { inflater.restart() }
            isFull = output.count - known == capacity
        }
    }

    /// Completes the message.
    func end(into output: inout [UInt8], limit: Int) throws(WebSocketFault) {
        try inflate(Self.tail, into: &output, limit: limit)
        // Anywhere else the message is incomplete.
        guard inflater.isBetweenBlocks else {
            throw WebSocketFault(.invalidData, "H150", "a deflated message breaks off")
        }
    }
}
