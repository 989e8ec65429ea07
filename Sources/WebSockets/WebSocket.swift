public import HTTP
internal import SystemSupport

/// A whole message of a WebSocket, however it was fragmented.
public enum WebSocketMessage: Hashable, Sendable {
    /// Valid UTF-8, as bytes because most receivers parse it as such.
    case text([UInt8])
    /// Any bytes.
    case binary([UInt8])

    /// The payload.
    public var bytes: [UInt8] {
        switch self {
        case .text(let bytes), .binary(let bytes): bytes
        }
    }
}

/// A message in its wire format; encoded once, sent to many sockets without a copy (H144).
public struct EncodedMessage: Sendable {
    let frame: [UInt8]

    /// Encodes a message without compression, which each client negotiates separately.
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

/// The application's side of a WebSocket; every method is called on the socket's loop and must not
/// block.
public protocol WebSocketHandler: AnyObject, Sendable {
    /// The handshake is complete; messages may be sent, from any thread.
    func opened(_ socket: WebSocket)

    /// Everything that waited for a slow client was sent; see ``WebSocket/isFull``.
    func drained(_ socket: WebSocket)

    /// A whole message was received; text is valid UTF-8 (H137).
    func received(_ message: WebSocketMessage, on socket: WebSocket)

    /// The socket is closed, by either side; the last call.
    ///
    /// - Parameter code: The first code that either side sent; ``CloseCode/noStatusReceived`` for a
    ///   close frame without a code, ``CloseCode/abnormal`` without a close frame.
    func closed(_ socket: WebSocket, _ code: CloseCode)
}

extension WebSocketHandler {
    /// Does nothing: a handler that only answers fills no queue.
    public func drained(_ socket: WebSocket) {}
}

/// The server's side of one WebSocket (RFC 6455, H127–H150).
///
/// All methods may be called from any thread; the ``WebSocketHandler`` is called on the socket's
/// loop. An idle socket allocates no buffer.
public final class WebSocket: ByteChannelHandler {
    /// State that is used only on the loop. The lock is never contended; it makes the access safe
    /// for the compiler.
    private struct OnLoop {
        var session: WebSocketSession
        /// A pong that waits for a full channel; only the latest is kept (H139).
        var pong: [UInt8]?
        /// The deadline that was last set on the channel.
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
    /// - Returns: False when it will not be delivered: the socket is closed, or the client too
    ///   slow, which closes the socket (H144).
    @discardableResult public func send(_ message: WebSocketMessage) -> Bool {
        if let deflation, message.bytes.count >= deflation.minimum {
            let opcode: Opcode = if case .text = message { .text } else { .binary }
            let payload = MessageDeflater.deflate(
                message.bytes, windowBits: deflation.windowBits)
            return put(FrameEncoder.encode(opcode, payload, isCompressed: true))
        }
        return send(EncodedMessage(message))
    }

    /// Sends a text message.
    @discardableResult public func send(text: String) -> Bool { send(.text(Array(text.utf8))) }

    /// Sends a binary message.
    @discardableResult public func send(binary: [UInt8]) -> Bool { send(.binary(binary)) }

    /// Sends a message that was encoded once for many sockets.
    @discardableResult public func send(_ message: EncodedMessage) -> Bool { put(message.frame) }

    /// Sends a ping; a payload above 125 bytes is truncated.
    @discardableResult public func ping(_ payload: [UInt8] = []) -> Bool {
        put(FrameEncoder.encode(.ping, Array(payload.prefix(125))))
    }

    /// Closes the socket after everything sent so far and waits for the client's close frame
    /// (H141).
    ///
    /// - Parameters:
    ///   - code: A code that may be sent (``CloseCode/isSendable``); any other becomes 1011.
    ///   - reason: At most 123 bytes; a longer one is truncated between characters.
    public func close(_ code: CloseCode = .normal, _ reason: String = "") {
        let code = code.isSendable ? code : .internalError
        outbox.perform {
            self.run { session, now in session.close(code, reason, at: now) }
        }
    }

    /// Whether messages wait for a slow client; to be read on the loop.
    ///
    /// A handler that reads from a store should then stop sending until
    /// ``WebSocketHandler/drained(_:)``, instead of filling the queue until the client is
    /// disconnected.
    public var isFull: Bool { outbox.isWaiting || outbox.channel?.isFull != false }

    /// Runs work on the socket's loop, from any thread; dropped once the socket is closed.
    public func perform(_ work: @escaping @Sendable () -> Void) { outbox.perform(work) }

    /// Closes the socket with 4401 after some milliseconds, as when its session expires (H146). A
    /// later call replaces the time.
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

    /// Starts the session.
    public func opened(_ channel: any ByteChannel) {
        let now = channel.milliseconds
        onLoop.withLock { onLoop in onLoop.session.open(at: now) }
        outbox.connect(channel)
        handler.opened(self)
        arm(channel)
    }

    /// Decodes bytes from the client.
    public func received(_ bytes: Span<UInt8>) {
        guard let channel = outbox.channel else { return }
        take(bytes, channel)
        arm(channel)
    }

    /// Runs what is due.
    public func deadlinePassed() {
        onLoop.withLock { onLoop in onLoop.deadline = .max }
        run { session, now in session.tick(at: now) }
    }

    /// Sends what is queued.
    public func drained() {
        let pong = onLoop.withLock { onLoop in
            defer { onLoop.pong = nil }
            return onLoop.pong
        }
        if let pong { outbox.channel?.send(pong) }
        flush()
        if !isFull { handler.drained(self) }
    }

    /// Closes the socket at a random time within `drainSpread`, so that clients do not all
    /// reconnect at once (H147).
    public func stopping() {
        endpoint.stop()
        let delay = Int64.random(in: 0...max(endpoint.settings.drainSpread, 0))
        run { session, now in
            session.drain(at: now.saturating(adding: delay))
            return session.tick(at: now)
        }
    }

    /// Ends the session and releases the slot.
    public func closed() {
        outbox.disconnect()
        slot?.release()
        handler.closed(self, onLoop.withLock { onLoop in onLoop.session.disconnect() })
    }

    private func take(_ bytes: Span<UInt8>, _ channel: any ByteChannel) {
        let now = channel.milliseconds
        var index = 0
        while true {
            let step = onLoop.withLock { onLoop in
                onLoop.session.receive(bytes, from: &index, at: now)
            }
            guard let step else { return }
            perform(step, channel)
        }
    }

    /// Performs a step of the session, then everything that is due.
    private func run(_ first: (inout WebSocketSession, Int64) -> WebSocketSession.Step?) {
        guard let channel = outbox.channel else { return }
        let now = channel.milliseconds
        var step = onLoop.withLock { onLoop in first(&onLoop.session, now) }
        while let due = step {
            perform(due, channel)
            step = onLoop.withLock { onLoop in onLoop.session.tick(at: now) }
        }
        arm(channel)
    }

    private func perform(_ step: WebSocketSession.Step, _ channel: any ByteChannel) {
        switch step {
        case .deliver(let message): handler.received(message, on: self)
        case .ping:
            // On a full channel a ping would only be queued.
            if !channel.isFull { channel.send(FrameEncoder.encode(.ping, [])) }
        case .pong(let payload):
            let frame = FrameEncoder.encode(.pong, payload)
            if channel.isFull {
                onLoop.withLock { onLoop in onLoop.pong = frame }
            } else {
                channel.send(frame)
            }
        case .pause: channel.isReading = false
        case .resume:
            channel.isReading = true
            let backlog = onLoop.withLock { onLoop in onLoop.session.takeBacklog() }
            take(backlog.span, channel)
        case .close(let code, let reason):
            let frame = FrameEncoder.encode(.close, ClosePayload.write(code, reason))
            // The queue of a client that was too slow has been dropped.
            if !outbox.close(after: frame) { channel.send(frame) }
            outbox.flush()
        case .answer(let code): end(channel, code, "")
        case .fail(let code, let reason): end(channel, code, reason)
        case .finish:
            outbox.close()
            channel.finish()
        case .closeTimedOut:
            outbox.close()
            if channel.queuedCount == 0 { channel.finish() } else { channel.abort() }
        }
    }

    private func end(_ channel: any ByteChannel, _ code: CloseCode, _ reason: String) {
        outbox.close()
        channel.send(FrameEncoder.encode(.close, ClosePayload.write(code, reason)))
        channel.finish()
    }

    private func flush() {
        if outbox.hasOverflown {
            let code = endpoint.settings.slowConsumerCode
            run { session, now in session.close(code, "too slow", at: now) }
        } else {
            outbox.flush()
        }
    }

    private func arm(_ channel: any ByteChannel) {
        let deadline = onLoop.withLock { onLoop -> Int64? in
            let deadline = onLoop.session.deadline
            // A later deadline is noticed when the earlier one passes, so that a message needs no
            // timer change.
            guard deadline < onLoop.deadline else { return nil }
            onLoop.deadline = deadline
            return deadline
        }
        if let deadline { channel.setDeadline(deadline) }
    }
}
