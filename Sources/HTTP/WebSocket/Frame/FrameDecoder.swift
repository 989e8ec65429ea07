/// Takes apart what a client sends after `101` (RFC 6455 §5): octets in; messages and control frames
/// out, the same wherever the input is cut.
///
/// Every limit holds before the octets it counts are kept (H136, H138). Between messages it owns no
/// memory beyond itself.
package struct FrameDecoder: Sendable {
    /// What a client said.
    package enum Event: Equatable, Sendable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong
        /// A close frame; ``CloseCode/unstated`` where it carried no code.
        case close(CloseCode)
    }

    private let limits: FrameLimits
    private var head = FrameHead()
    /// Octets of the frame's payload that have come.
    private var place: UInt64 = 0
    private var message: OpenMessage?
    private var control: [UInt8] = []
    /// How many frames were whole.
    private(set) var framesRead: UInt64 = 0

    /// A decoder at the first octet behind the handshake.
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
            throw WebSocketFault(.unacceptable, "H149", "text only")
        }
        if startsData {
            message = OpenMessage(isText: head.opcode == .text, isCompressed: head.isCompressed)
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
        self.head = FrameHead()
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
