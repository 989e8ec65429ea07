/// Limits for what a peer may send on one WebSocket.
package struct FrameLimits: Sendable {
    /// The largest message in bytes, after decompression (H138, H150).
    package var message = 1 << 20
    /// The largest frame in bytes, before decompression (H138).
    package var frame = 1 << 20
    /// The most fragments of one message, empty ones included (H135).
    package var fragments = 1024
    /// Whether binary messages are refused (H149).
    package var isTextOnly = false
    /// Whether compressed messages are accepted, because compression was negotiated (H150).
    package var inflates = false

    /// The default limits.
    package init() {}
}

/// An incremental decoder of the client's frames after `101` (RFC 6455 §5): bytes in; messages and
/// control frames out, however the input is split.
///
/// Every limit is checked before the bytes it counts are stored (H136, H138). Between messages it
/// allocates nothing.
package struct FrameDecoder: Sendable {
    /// A complete message or control frame.
    package enum Event: Equatable, Sendable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong
        /// A close frame; ``CloseCode/noStatusReceived`` when it carries no code.
        case close(CloseCode)
    }

    private let limits: FrameLimits
    private var head = FrameHeader()
    /// How many bytes of the frame's payload were received.
    private var position: UInt64 = 0
    private var message: MessageAssembler?
    private var control: [UInt8] = []
    /// How many frames were complete.
    private(set) var framesRead: UInt64 = 0

    /// Makes a decoder at the first byte after the handshake.
    package init(_ limits: FrameLimits) { self.limits = limits }

    /// Decodes until an event is complete or the input is used up.
    ///
    /// - Parameter index: Where to start in the input; advanced past the bytes used.
    /// - Returns: `nil` when more input is needed.
    /// - Throws: The fault that ends the socket; nothing may be decoded after it.
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
            let count = Int(min(head.length - position, UInt64(input.count - index)))
            if count > 0 {
                try takePayload(input, index..<(index + count))
                index += count
                position += UInt64(count)
            }
            if position == head.length, let event = try endFrame() { return event }
        }
        return nil
    }

    /// Checks the rules that depend on the message of a frame, as early as possible.
    private mutating func checkHead() throws(WebSocketFault) {
        if head.isAtLength {
            try beginFrame()
        } else if head.isAtKey, !head.opcode.isControl {
            let received = UInt64(message?.received ?? 0)
            guard head.length <= UInt64(limits.frame),
                head.length + received <= UInt64(limits.message)
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
            control.append(unmasking: input, range, key: head.key, position: position)
        } else {
            try message?.take(
                input, range, key: head.key, position: position, limit: limits.message)
        }
    }

    private mutating func endFrame() throws(WebSocketFault) -> Event? {
        let head = head
        self.head = FrameHeader()
        position = 0
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

/// Assembles one message from its fragments.
struct MessageAssembler: Sendable {
    private let isText: Bool
    private let inflater: MessageInflater?
    /// How many frames the message has so far.
    var fragments = 0
    /// How many bytes of payload were received, before decompression.
    private(set) var received = 0
    private var bytes: [UInt8] = []
    private var check = UTF8Validator()

    init(isText: Bool, isCompressed: Bool) {
        self.isText = isText
        inflater = isCompressed ? MessageInflater() : nil
    }

    /// Adds payload; text is validated at once (H137).
    mutating func take(
        _ input: Span<UInt8>, _ range: Range<Int>, key: UInt32, position: UInt64, limit: Int
    ) throws(WebSocketFault) {
        received += range.count
        if let inflater {
            var piece: [UInt8] = []
            piece.append(unmasking: input, range, key: key, position: position)
            try inflate { bytes throws(WebSocketFault) in
                try inflater.inflate(piece, into: &bytes, limit: limit)
            }
        } else {
            let known = bytes.count
            bytes.append(unmasking: input, range, key: key, position: position)
            try checkText(from: known)
        }
    }

    /// Returns the whole message.
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

    /// Validates text that was decoded before a fault first, so that the reported fault does not
    /// depend on how the input is split.
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
