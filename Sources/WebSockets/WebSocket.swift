public import HTTP
internal import SystemSupport

/// A whole message of a WebSocket, whatever fragments it came in.
public enum WebSocketMessage: Hashable, Sendable {
    /// Bytes that are UTF-8, checked; kept as bytes, since most readers parse them as such.
    case text([UInt8])
    /// Any bytes.
    case binary([UInt8])

    /// The content.
    public var bytes: [UInt8] {
        switch self {
        case .text(let bytes), .binary(let bytes): bytes
        }
    }
}

/// A message as it stands on the wire; made once, sent to many, never copied (H144).
public struct EncodedMessage: Sendable {
    let frame: [UInt8]

    /// Encodes a message, uncompressed, since each client may have agreed to something else.
    ///
    /// - Parameter message: Text must be UTF-8.
    public init(_ message: WebSocketMessage) {
        frame =
            switch message {
            case .text(let bytes): FrameEncoder.encode(.text, bytes)
            case .binary(let bytes): FrameEncoder.encode(.binary, bytes)
            }
    }
}

/// An application's end of a WebSocket; every call comes on the socket's loop and must not block.
public protocol WebSocketHandler: AnyObject, Sendable {
    /// The handshake is answered; messages may be sent, from any thread.
    func opened(_ socket: WebSocket)

    /// A whole message came; text is UTF-8, checked (H137).
    func received(_ message: WebSocketMessage, on socket: WebSocket)

    /// The socket is over, whoever ended it; the last call.
    ///
    /// - Parameter code: What was said first, by either side; ``CloseCode/noStatusReceived`` for a close frame
    ///   without a code, ``CloseCode/abnormal`` when nothing was said.
    func closed(_ socket: WebSocket, _ code: CloseCode)
}

/// The server's end of one WebSocket (RFC 6455, H127–H150).
///
/// Everything may be called from any thread; what comes is told to the ``WebSocketHandler`` on the
/// socket's loop. While nothing is under way it owns no buffer.
public final class WebSocket: ByteChannelHandler {
    /// What belongs to the loop. The lock is never waited for; it is how the compiler knows.
    private struct OnLoop {
        var session: WebSocketSession
        /// A pong that found the line full; only the newest is kept (H139).
        var pong: [UInt8]?
        /// What the line was told last.
        var deadline = Int64.max
    }

    private let handler: any WebSocketHandler
    private let endpoint: WebSocketEndpoint
    private let deflation: WebSocketCompression?
    private let slot: StreamSlot?
    private let outbox: Outbox
    private let onLoop: Locked<OnLoop>

    init(
        _ handler: any WebSocketHandler, _ endpoint: WebSocketEndpoint,
        deflation: WebSocketCompression?, slot: StreamSlot?
    ) {
        self.handler = handler
        self.endpoint = endpoint
        self.deflation = deflation
        self.slot = slot
        outbox = Outbox(
            maximumBytes: endpoint.settings.maximumQueueBytes,
            maximumMessages: endpoint.settings.maximumQueueMessages)
        onLoop = Locked(
            OnLoop(session: WebSocketSession(endpoint.settings, inflates: deflation != nil)))
    }

    // MARK: From any thread

    /// Sends a message; text must be UTF-8.
    ///
    /// - Returns: False when it will not arrive: the socket is over, or the client too slow, which
    ///   closes the socket (H144).
    @discardableResult public func send(_ message: WebSocketMessage) -> Bool {
        if let deflation, message.bytes.count >= deflation.minimum {
            let opcode: Opcode = if case .text = message { .text } else { .binary }
            let payload = MessageDeflater.deflate(
                message.bytes, windowBits: deflation.windowBits)
            return put(FrameEncoder.encode(opcode, payload, isCompressed: true))
        }
        return send(EncodedMessage(message))
    }

    /// Sends text.
    @discardableResult public func send(text: String) -> Bool { send(.text(Array(text.utf8))) }

    /// Sends bytes.
    @discardableResult public func send(binary: [UInt8]) -> Bool { send(.binary(binary)) }

    /// Sends what was encoded once for many sockets.
    @discardableResult public func send(_ message: EncodedMessage) -> Bool { put(message.frame) }

    /// Sends a ping of at most 125 bytes; what is longer is cut.
    @discardableResult public func ping(_ payload: [UInt8] = []) -> Bool {
        put(FrameEncoder.encode(.ping, Array(payload.prefix(125))))
    }

    /// Closes the socket behind what was sent, and waits for the client's answer (H141).
    ///
    /// - Parameters:
    ///   - code: One that may be sent (``CloseCode/isSendable``); any other becomes 1011.
    ///   - reason: At most 123 bytes; what is longer is cut between characters.
    public func close(_ code: CloseCode = .normal, _ reason: String = "") {
        let code = code.isSendable ? code : .internalError
        outbox.perform {
            self.run { session, now in session.close(code, reason, at: now) }
        }
    }

    /// Closes the socket with 4001 after some milliseconds, as when its session expires; the last
    /// call counts (H146).
    public func expire(in milliseconds: Int64) {
        outbox.perform {
            self.run { session, now in
                session.expire(at: now.saturating(adding: milliseconds))
                return session.tick(at: now)
            }
        }
    }

    private func put(_ bytes: [UInt8]) -> Bool { outbox.put(bytes) { self.flush() } }

    // MARK: On the loop

    /// Begins to listen.
    public func opened(_ line: any ByteChannel) {
        let now = line.milliseconds
        onLoop.withLock { onLoop in onLoop.session.open(at: now) }
        outbox.connect(line)
        handler.opened(self)
        arm(line)
    }

    /// Takes what the client sent.
    public func received(_ bytes: Span<UInt8>) {
        guard let line = outbox.line else { return }
        take(bytes, line)
        arm(line)
    }

    /// Does what is due.
    public func deadlinePassed() {
        onLoop.withLock { onLoop in onLoop.deadline = .max }
        run { session, now in session.tick(at: now) }
    }

    /// Goes on with what waits.
    public func drained() {
        let pong = onLoop.withLock { onLoop in
            defer { onLoop.pong = nil }
            return onLoop.pong
        }
        if let pong { outbox.line?.send(pong) }
        flush()
    }

    /// Says goodbye within the spread, so that not all clients come back at once (H147).
    public func stopping() {
        endpoint.stop()
        let delay = Int64.random(in: 0...max(endpoint.settings.drainSpread, 0))
        run { session, now in
            session.drain(at: now.saturating(adding: delay))
            return session.tick(at: now)
        }
    }

    /// Lets everything go.
    public func closed() {
        outbox.disconnect()
        slot?.leave()
        handler.closed(self, onLoop.withLock { onLoop in onLoop.session.lose() })
    }

    private func take(_ bytes: Span<UInt8>, _ line: any ByteChannel) {
        let now = line.milliseconds
        var index = 0
        while true {
            let step = onLoop.withLock { onLoop in
                onLoop.session.receive(bytes, from: &index, at: now)
            }
            guard let step else { return }
            perform(step, line)
        }
    }

    /// Does what is asked for, then what is due.
    private func run(_ ask: (inout WebSocketSession, Int64) -> WebSocketSession.Step?) {
        guard let line = outbox.line else { return }
        let now = line.milliseconds
        var step = onLoop.withLock { onLoop in ask(&onLoop.session, now) }
        while let due = step {
            perform(due, line)
            step = onLoop.withLock { onLoop in onLoop.session.tick(at: now) }
        }
        arm(line)
    }

    private func perform(_ step: WebSocketSession.Step, _ line: any ByteChannel) {
        switch step {
        case .deliver(let message): handler.received(message, on: self)
        case .ping:
            // Behind a full line it would only wait.
            if !line.isFull { line.send(FrameEncoder.encode(.ping, [])) }
        case .pong(let payload):
            let frame = FrameEncoder.encode(.pong, payload)
            if line.isFull {
                onLoop.withLock { onLoop in onLoop.pong = frame }
            } else {
                line.send(frame)
            }
        case .pause: line.isReading = false
        case .resume:
            line.isReading = true
            let backlog = onLoop.withLock { onLoop in onLoop.session.takeBacklog() }
            take(backlog.span, line)
        case .close(let code, let reason):
            let frame = FrameEncoder.encode(.close, ClosePayload.write(code, reason))
            // Of a client that is too slow nothing waits any more.
            if !outbox.shut(after: frame) { line.send(frame) }
            outbox.flush()
        case .answer(let code): end(line, code, "")
        case .fail(let code, let reason): end(line, code, reason)
        case .finish:
            outbox.shut()
            line.finish()
        case .closeTimedOut:
            outbox.shut()
            if line.queuedCount == 0 { line.finish() } else { line.abort() }
        }
    }

    private func end(_ line: any ByteChannel, _ code: CloseCode, _ reason: String) {
        outbox.shut()
        line.send(FrameEncoder.encode(.close, ClosePayload.write(code, reason)))
        line.finish()
    }

    private func flush() {
        if outbox.hasOverflown {
            let code = endpoint.settings.slowConsumerCode
            run { session, now in session.close(code, "too slow", at: now) }
        } else {
            outbox.flush()
        }
    }

    private func arm(_ line: any ByteChannel) {
        let deadline = onLoop.withLock { onLoop -> Int64? in
            let deadline = onLoop.session.deadline
            // A later time is noticed when the earlier one has come, so that a message costs no timer.
            guard deadline < onLoop.deadline else { return nil }
            onLoop.deadline = deadline
            return deadline
        }
        if let deadline { line.setDeadline(deadline) }
    }
}
