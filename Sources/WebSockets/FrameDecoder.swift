/// What a peer may send on one WebSocket.
package struct FrameLimits: Sendable {
    /// The largest message in bytes, decoded where it was compressed (H138, H150).
    package var message = 1 << 20
    /// The largest frame in bytes, as it came (H138).
    package var frame = 1 << 20
    /// The most fragments of one message, empty ones included (H135).
    package var fragments = 1024
    /// Whether binary messages are refused (H149).
    package var isTextOnly = false
    /// Whether messages may come compressed, because that was agreed (H150).
    package var inflates = false

    /// The defaults.
    package init() {}
}

/// Takes apart what a client sends after `101` (RFC 6455 §5): bytes in; messages and control frames
/// out, the same wherever the input is cut.
///
/// Every limit holds before the bytes it counts are kept (H136, H138). Between messages it owns no
/// memory beyond itself.
package struct FrameDecoder: Sendable {
    /// What a client said.
    package enum Event: Equatable, Sendable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong
        /// A close frame; ``CloseCode/noStatusReceived`` where it carried no code.
        case close(CloseCode)
    }

    private let limits: FrameLimits
    private var head = FrameHeader()
    /// Bytes of the frame's payload that have come.
    private var place: UInt64 = 0
    private var message: MessageAssembler?
    private var control: [UInt8] = []
    /// How many frames were whole.
    private(set) var framesRead: UInt64 = 0

    /// A decoder at the first byte behind the handshake.
    package init(_ limits: FrameLimits) { self.limits = limits }

    /// Reads on until something is complete or the input is used up.
    ///
    /// - Parameter index: Where to begin in the input; moved behind what was used.
    /// - Returns: `nil` when more input is needed.
    /// - Throws: What ends the socket; nothing may be read after it.
    package mutating func next(
        _ input: Span<UInt8>, at index: inout Int
    ) throws(WebSocketFault) -> Event? {
        while index < input.count {
            if !head.isComplete {
                try head.take(input[index])
                index += 1
                try checkHead()
                guard head.isComplete else { continue }
            }
            let count = Int(min(head.length - place, UInt64(input.count - index)))
            if count > 0 {
                try takePayload(input, index..<(index + count))
                index += count
                place += UInt64(count)
            }
            if place == head.length, let event = try endFrame() { return event }
        }
        return nil
    }

    /// What only the message a frame belongs to can tell, as soon as it can be told.
    private mutating func checkHead() throws(WebSocketFault) {
        if head.isAtLength {
            try beginFrame()
        } else if head.isAtKey, !head.opcode.isControl {
            let held = UInt64(message?.received ?? 0)
            guard head.length <= UInt64(limits.frame), head.length + held <= UInt64(limits.message)
            else { throw .tooBig }
        }
    }

    private mutating func beginFrame() throws(WebSocketFault) {
        let startsData = head.opcode == .text || head.opcode == .binary
        guard !head.isCompressed || limits.inflates && startsData else {
            throw WebSocketFault(.protocolError, "H133", "reserved bit or opcode")
        }
        if head.opcode.isControl { return }
        guard startsData == (message == nil) else {
            throw WebSocketFault(.protocolError, "H135", "fragments out of order")
        }
        guard head.opcode != .binary || !limits.isTextOnly else {
            throw WebSocketFault(.unsupportedData, "H149", "text only")
        }
        if startsData {
            message = MessageAssembler(
                isText: head.opcode == .text, isCompressed: head.isCompressed)
        }
        message?.fragments += 1
        guard message?.fragments ?? 0 <= limits.fragments else {
            throw WebSocketFault(.tooBig, "H135", "too many fragments")
        }
    }

    private mutating func takePayload(
        _ input: Span<UInt8>, _ range: Range<Int>
    ) throws(WebSocketFault) {
        if head.opcode.isControl {
            control.append(unmasking: input, range, key: head.key, place: place)
        } else {
            try message?.take(
                input, range, key: head.key, place: place, limit: limits.message)
        }
    }

    private mutating func endFrame() throws(WebSocketFault) -> Event? {
        let head = head
        self.head = FrameHeader()
        place = 0
        framesRead += 1
        if head.opcode.isControl {
            let payload = control
            control = []
            switch head.opcode {
            case .ping: return .ping(payload)
            case .pong: return .pong
            default: return .close(try ClosePayload.read(payload))
            }
        }
        guard head.isFinal else { return nil }
        defer { message = nil }
        return try message.map { open throws(WebSocketFault) in
            var open = open
            return .message(try open.end(limit: limits.message))
        }
    }
}

extension WebSocketFault {
    static let tooBig = WebSocketFault(.tooBig, "H138", "message too big")
}

/// A message whose fragments are still coming.
struct MessageAssembler: Sendable {
    private let isText: Bool
    private let inflater: MessageInflater?
    /// How many frames it came in so far.
    var fragments = 0
    /// Bytes of payload as they came.
    private(set) var received = 0
    private var bytes: [UInt8] = []
    private var check = UTF8Validator()

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
            try inflate { bytes throws(WebSocketFault) in
                try inflater.inflate(piece, into: &bytes, limit: limit)
            }
        } else {
            let known = bytes.count
            bytes.append(unmasking: input, range, key: key, place: place)
            try checkText(from: known)
        }
    }

    /// The whole message.
    mutating func end(limit: Int) throws(WebSocketFault) -> WebSocketMessage {
        if let inflater {
            try inflate { bytes throws(WebSocketFault) in
                try inflater.end(into: &bytes, limit: limit)
            }
        }
        guard isText else { return .binary(bytes) }
        guard check.isComplete else { throw .notText }
        return .text(bytes)
    }

    /// Text that came before a fault is checked before the fault is told, wherever the input was cut.
    private mutating func inflate(
        _ decode: (inout [UInt8]) throws(WebSocketFault) -> Void
    ) throws(WebSocketFault) {
        let known = bytes.count
        var fault: WebSocketFault?
        do throws(WebSocketFault) { try decode(&bytes) } catch { fault = error }
        try checkText(from: known)
        if let fault { throw fault }
    }

    private mutating func checkText(from index: Int) throws(WebSocketFault) {
        guard isText else { return }
        var check = check
        guard check.take(bytes.span.extracting(index..<bytes.count)) else { throw .notText }
        self.check = check
    }
}

extension WebSocketFault {
    fileprivate static let notText = WebSocketFault(.invalidData, "H137", "text is not UTF-8")
}
