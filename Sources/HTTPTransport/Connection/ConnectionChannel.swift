import HTTP

/// The channel of a connection whose response continues after its head.
///
/// It exists only while such a response lasts, so that an idle connection stays small. Actions that the
/// handler requests are recorded here; the connection performs them at the end of the turn.
final class ConnectionChannel: ByteChannel, @unchecked Sendable {
    // Sendable because everything but `perform` is used only on the loop, and `loop` never changes.

    /// The framing of the bytes on the connection.
    enum Framing: Equatable {
        /// Content of unknown length, in chunks.
        case chunked
        /// Content of a known length; the value is the number of bytes still to be sent (H88).
        case fixedLength(Int64)
        /// Content that ends with the connection (H90).
        case untilClose
        /// Another protocol than HTTP, in both directions.
        case upgraded
    }

    /// The action that the handler has requested.
    enum Action {
        case proceed, finish, abort
    }

    private(set) var framing: Framing
    let handler: any ByteChannelHandler
    fileprivate let startedAt: Int64
    var record: RequestRecord
    fileprivate var action = Action.proceed
    private(set) var isFull = false
    /// Whether the handler was notified that the server stops.
    fileprivate var isStopping = false

    private let loop: EventLoop
    private var connection: Connection?
    /// Bytes sent in this turn and not framed yet; a single array is kept without copying.
    private var pending: [UInt8] = []

    init(
        _ connection: Connection, _ framing: Framing, _ handler: any ByteChannelHandler,
        _ record: RequestRecord,
        startedAt: Int64
    ) {
        self.connection = connection
        self.framing = framing
        self.handler = handler
        self.record = record
        self.startedAt = startedAt
        loop = connection.loop
    }

    var milliseconds: Int64 { loop.now }

    var queuedCount: Int64 {
        guard let connection else { return 0 }
        return connection.output.count + Int64(pending.count)
    }

    var isReading = true {
        didSet { if isReading, !oldValue { connection?.resumeChannelLater() } }
    }

    /// Whether received bytes are passed to the handler.
    var takesBytes: Bool { framing == .upgraded && isReading && action == .proceed }

    func send(_ bytes: [UInt8]) {
        guard let connection, action == .proceed, !bytes.isEmpty else { return }
        if pending.isEmpty {
            pending = bytes
        } else if pending.count + bytes.count <= SendQueue.coalescingLimit {
            pending += bytes
        } else {
            connection.queuePendingBytes(of: self)
            pending = bytes
        }
        if queuedCount > Int64(connection.configuration.writeHigh) { isFull = true }
        connection.flushLater()
    }

    func setDeadline(_ time: Int64) { connection?.setPhaseDeadline(time) }

    func finish() { request(.finish) }

    func abort() { request(.abort) }

    private func request(_ change: Action) {
        guard let connection, action != .abort else { return }
        action = change
        connection.flushLater()
    }

    func perform(_ work: @escaping @Sendable () -> Void) {
        loop.perform { [self] in if connection != nil { work() } }
    }

    /// Takes the bytes sent in this turn. Aborts when they exceed the length that the head has stated.
    func takePendingBytes() -> [UInt8] {
        defer { pending = [] }
        guard case .fixedLength(let remaining) = framing else { return pending }
        guard pending.count <= remaining else {
            action = .abort
            return []
        }
        framing = .fixedLength(remaining - Int64(pending.count))
        return pending
    }

    /// Whether the content has the length that its head has stated.
    var isComplete: Bool {
        if case .fixedLength(let remaining) = framing { remaining == 0 } else { true }
    }

    /// Tells the handler that it can send again.
    func notifyDrained() {
        guard isFull else { return }
        isFull = false
        handler.drained()
    }

    /// Detaches from the connection and notifies the handler that the channel is closed.
    func close() {
        connection = nil
        pending = []
        handler.closed()
    }
}

// Responses that continue after their head: content of unknown length, and other protocols.
extension Connection {
    /// Starts a channel for the rest of a response whose head is queued.
    ///
    /// - Parameter bytesToDiscard: The number of bytes of the request's body that were not read; they are
    ///   discarded meanwhile.
    func open(_ channel: ConnectionChannel, bytesToDiscard: Int64) {
        phase = .channel(channel)
        self.bytesToDiscard = bytesToDiscard
        setPhaseDeadline(.max)
        channel.handler.opened(channel)
        if server.isDraining { notifyStopping(channel) }
        // Bytes sent at once are sent together with the head (H87, H151).
        performRequestedAction(channel)
    }

    /// Performs the action that the handler requested in this turn.
    func performRequestedAction(_ channel: ConnectionChannel) {
        if channel.action == .abort { return abort("aborted") }
        queuePendingBytes(of: channel)
        switch channel.action {
        case .proceed: return
        case .finish where channel.isComplete: end(channel)
        case .finish, .abort: abort("aborted")
        }
    }

    /// Moves the bytes of the channel to the output, with framing.
    func queuePendingBytes(of channel: ConnectionChannel) {
        let bytes = channel.takePendingBytes()
        guard !bytes.isEmpty else { return }
        let before = output.count
        if channel.framing == .chunked {
            output.borrowStorage(from: loop)
            output.append(ChunkFraming.head(bytes.count))
            output.append(bytes)
            output.append(ChunkFraming.end)
        } else {
            output.append(bytes)
        }
        channel.record.bytesOut += output.count - before
        wantsFlush = true
    }

    /// Resumes the channel in the next turn, so that a handler is not called from within its own call.
    func resumeChannelLater() {
        guard !isScheduledToRead else { return }
        isScheduledToRead = true
        loop.resumeReading(self)
    }

    /// Called by the loop: notifies the handler that it can send again, and passes it the buffered bytes.
    func resumeChannel(_ channel: ConnectionChannel) {
        if canSend { channel.notifyDrained() }
        if channel.takesBytes { processInput() }
    }

    /// Called when a part of the output was sent.
    func outputAdvanced() {
        if case .channel(let channel) = phase, channel.isFull, canSend { resumeChannelLater() }
    }

    private var canSend: Bool { output.count <= Int64(configuration.writeLow) }

    /// Tells the handler, once, that the server stops (H194).
    func notifyStopping(_ channel: ConnectionChannel) {
        guard !channel.isStopping else { return }
        channel.isStopping = true
        channel.handler.stopping()
    }

    /// Ends the channel: the content is complete, or the other protocol has ended.
    func end(_ channel: ConnectionChannel) {
        queuePendingBytes(of: channel)
        if channel.framing == .chunked {
            output.borrowStorage(from: loop)
            output.append(ChunkFraming.last)
            channel.record.bytesOut += Int64(ChunkFraming.last.count)
        }
        if channel.framing == .upgraded { mustClose = true }
        wantsFlush = true
        report(&channel.record, since: channel.startedAt)
        finishResponse(bytesToDiscard: bytesToDiscard)
        channel.close()
    }

    /// Ends the channel of a broken connection.
    ///
    /// - Parameter unsent: The number of output bytes that are lost.
    func endWork(_ channel: ConnectionChannel, _ reason: String, unsent: Int64) {
        channel.record.bytesOut = max(channel.record.bytesOut - unsent, 0)
        channel.record.closing = reason
        report(&channel.record, since: channel.startedAt)
        channel.close()
    }
}
