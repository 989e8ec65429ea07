internal import SystemSupport

/// The application's side of an event stream; every method is called on the stream's loop and must
/// not block.
public protocol EventStreamHandler: AnyObject, Sendable {
    /// The id to resume after for a client that has received everything sent so far, even if no
    /// event was sent for long or at all; `nil` where ids are not numbers or clients do not resume.
    var resumePosition: Int64? { get }

    /// The head and a first comment are queued; events may be sent, from any thread.
    func opened(_ stream: EventStream)

    /// Follows ``EventStream/isFull``: the stream can take more events.
    func drained(_ stream: EventStream)

    /// The stream is closed, by either side; the last call.
    func closed(_ stream: EventStream)
}

extension EventStreamHandler {
    /// `nil`: clients resume after the id of the last event.
    public var resumePosition: Int64? { nil }

    /// Does nothing.
    public func drained(_ stream: EventStream) {}
}

/// Settings of an event stream, with the defaults of the HTTP rules.
public struct EventStreamSettings: Sendable {
    /// How long a client waits before it reconnects, in milliseconds (H153).
    public var retry: UInt32 = 3000
    /// How often a comment is sent as a heartbeat, in milliseconds (H153).
    public var heartbeat: Int64 = 15_000
    /// The most bytes queued for a slow client beyond the connection's own buffer (H156).
    public var maximumQueueBytes = 1 << 20
    /// The most events queued for a slow client (H156).
    var maximumQueueEvents = 1000

    /// The default settings.
    public init() {}
}

/// The server's side of one event stream (HTML §9.2, H151–H158).
///
/// Events may be sent from any thread. A client that reads too slowly is disconnected when its
/// queue is full; it reconnects with `Last-Event-ID` and loses nothing.
public final class EventStream: ByteChannelHandler {
    private struct Times: Sendable {
        var heartbeat = Int64.max
        var expiry = Int64.max
        /// Whether the stream ends once the queue is empty.
        var isEnding = false
    }

    private let handler: any EventStreamHandler
    private let settings: EventStreamSettings
    private let slot: StreamSlot?
    private let outbox: Outbox
    private let times = Locked(Times())

    /// Makes a stream; send ``response`` to open it.
    ///
    /// - Parameter slot: Released when the stream closes (H157).
    public init(
        _ handler: any EventStreamHandler, settings: EventStreamSettings = EventStreamSettings(),
        slot: StreamSlot? = nil
    ) {
        self.handler = handler
        self.settings = settings
        self.slot = slot
        outbox = Outbox(
            maximumBytes: settings.maximumQueueBytes,
            maximumMessages: settings.maximumQueueEvents)
    }

    /// The response that opens the stream; caches and proxies must not buffer it (H151).
    public var response: Response {
        var response = Response(.ok, content: .stream(self))
        response.fields.add("Content-Type", "text/event-stream; charset=utf-8")
        response.fields.add("Cache-Control", "no-store")
        response.fields.add("X-Accel-Buffering", "no")
        return response
    }

    /// Sends an event, from any thread.
    ///
    /// - Returns: False when it will not be delivered: the stream is closed, or the client too slow
    ///   (H156).
    @discardableResult public func send(_ event: EncodedEvent) -> Bool {
        outbox.put(event.bytes) { self.flush() }
    }

    /// Whether events wait for a slow client; to be read on the loop.
    ///
    /// A handler that reads from a store should then stop sending until
    /// ``EventStreamHandler/drained(_:)``, instead of filling the queue until the client is
    /// disconnected.
    public var isFull: Bool { outbox.isWaiting || outbox.channel?.isFull != false }

    /// Runs work on the stream's loop, from any thread; dropped once the stream is closed.
    public func perform(_ work: @escaping @Sendable () -> Void) { outbox.perform(work) }

    /// Ends the stream after everything sent so far, from any thread.
    public func close() {
        outbox.perform {
            self.times.withLock { times in times.isEnding = true }
            self.flush()
        }
    }

    /// Ends the stream after some milliseconds, as when its token expires (H158), from any thread.
    /// A later call replaces the time.
    public func expire(in milliseconds: Int64) {
        outbox.perform {
            guard let channel = self.outbox.channel else { return }
            let time = channel.milliseconds.saturating(adding: milliseconds)
            self.times.withLock { times in times.expiry = time }
            self.arm(channel)
        }
    }

    private func flush() {
        guard !outbox.hasOverflown else {
            // Aborted, not finished: the client must notice that events are missing (H88).
            outbox.channel?.abort()
            return
        }
        let hasSentAll = outbox.flush()
        if hasSentAll, times.withLock({ times in times.isEnding }) { end() }
    }

    private func end() {
        let channel = outbox.channel
        outbox.close()
        channel?.finish()
    }

    private func arm(_ channel: any ByteChannel) {
        channel.setDeadline(times.withLock { times in min(times.heartbeat, times.expiry) })
    }

    // MARK: The channel

    /// Sends the start of the stream.
    public func opened(_ channel: any ByteChannel) {
        channel.send(EncodedEvent.preamble(retry: settings.retry, at: handler.resumePosition).bytes)
        let heartbeat = channel.milliseconds + settings.heartbeat
        times.withLock { times in times.heartbeat = heartbeat }
        arm(channel)
        outbox.connect(channel)
        handler.opened(self)
    }

    /// Sends a heartbeat, or ends an expired stream.
    public func deadlinePassed() {
        guard let channel = outbox.channel else { return }
        let now = channel.milliseconds
        let (isHeartbeatDue, hasExpired) = times.withLock { times -> (Bool, Bool) in
            let isHeartbeatDue = now >= times.heartbeat
            if isHeartbeatDue { times.heartbeat = now + settings.heartbeat }
            return (isHeartbeatDue, now >= times.expiry)
        }
        guard !hasExpired else { return end() }
        // Not sent while events are queued: the heartbeat names the position after them and must
        // not overtake them.
        if isHeartbeatDue, !isFull {
            channel.send(EncodedEvent.heartbeat(at: handler.resumePosition).bytes)
        }
        arm(channel)
    }

    /// Sends queued events.
    public func drained() {
        flush()
        if !isFull { handler.drained(self) }
    }

    /// Ends the stream; the client reconnects to another process.
    public func stopping() { close() }

    /// Releases the slot and the channel.
    public func closed() {
        outbox.disconnect()
        slot?.release()
        handler.closed(self)
    }
}

extension Int64 {
    /// A sum that is clamped to the range of `Int64` instead of trapping.
    package func saturating(adding other: Int64) -> Int64 {
        let (sum, overflowed) = addingReportingOverflow(other)
        return overflowed ? (other < 0 ? .min : .max) : sum
    }
}
