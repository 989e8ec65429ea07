internal import SystemSupport

/// An application's end of an event stream; every call comes on the stream's loop and must not block.
public protocol EventStreamHandler: AnyObject, Sendable {
    /// The id behind which a client goes on that has all that was sent so far, should it have been sent
    /// none for long or none at all; `nil` where ids are no numbers, or nobody goes on.
    var resumePosition: Int64? { get }

    /// The head and a first comment are under way; events may be sent, from any thread.
    func opened(_ stream: EventStream)

    /// After ``EventStream/isFull``: there is room again.
    func drained(_ stream: EventStream)

    /// The stream is over, whoever ended it; the last call.
    func closed(_ stream: EventStream)
}

extension EventStreamHandler {
    /// The id of the last event that was sent is place enough.
    public var resumePosition: Int64? { nil }

    /// Nobody waits for room.
    public func drained(_ stream: EventStream) {}
}

/// The numbers of an event stream; the defaults are those of the specification.
public struct EventStreamSettings: Sendable {
    /// How long a client waits before it comes back, in milliseconds (H153).
    public var retry: UInt32 = 3000
    /// How often a comment shows that the stream lives, in milliseconds (H153).
    public var heartbeat: Int64 = 15_000
    /// What may wait for a slow client beyond the connection's own buffer, in bytes (H156).
    public var maximumQueueBytes = 1 << 20
    /// What may wait for a slow client, in events (H156).
    public var maximumQueueEvents = 1000

    /// The defaults.
    public init() {}
}

/// The server's end of one event stream (HTML §9.2, H151–H158).
///
/// Events may be sent from any thread. A client that reads too slowly is cut off when its queue is
/// full: it comes back with `Last-Event-ID` and loses nothing.
public final class EventStream: ByteChannelHandler {
    private struct Times: Sendable {
        var heartbeat = Int64.max
        var expiry = Int64.max
        /// To be finished once everything has left.
        var isEnding = false
    }

    private let handler: any EventStreamHandler
    private let settings: EventStreamSettings
    private let slot: StreamSlot?
    private let outbox: Outbox
    private let times = Locked(Times())

    /// Makes a stream; ``response`` then carries it.
    ///
    /// - Parameter slot: Its place in a count of streams, given back at the end (H157).
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

    /// The answer that opens it; neither a cache nor a proxy may hold it back (H151).
    public var response: Response {
        var response = Response(.ok, content: .stream(self))
        response.fields.add("Content-Type", "text/event-stream; charset=utf-8")
        response.fields.add("Cache-Control", "no-store")
        response.fields.add("X-Accel-Buffering", "no")
        return response
    }

    /// Sends an event, from any thread.
    ///
    /// - Returns: False when it will not arrive: the stream is over, or the client too slow (H156).
    @discardableResult public func send(_ event: EncodedEvent) -> Bool {
        outbox.put(event.bytes) { self.flush() }
    }

    /// Whether what was sent waits for a slow client; on the loop.
    ///
    /// Whoever has a store to read from sends nothing then, and goes on at
    /// ``EventStreamHandler/drained(_:)``, instead of filling the queue until the client is cut off.
    public var isFull: Bool { outbox.isWaiting || outbox.line?.isFull != false }

    /// Runs something on the stream's loop, from any thread; dropped once the stream is over.
    public func perform(_ work: @escaping @Sendable () -> Void) { outbox.perform(work) }

    /// Ends the stream behind what was sent, from any thread.
    public func close() {
        outbox.perform {
            self.times.withLock { times in times.isEnding = true }
            self.flush()
        }
    }

    /// Ends the stream after some milliseconds, as when its token expires (H158); the last call
    /// counts, from any thread.
    public func expire(in milliseconds: Int64) {
        outbox.perform {
            guard let line = self.outbox.line else { return }
            let time = line.milliseconds.saturating(adding: milliseconds)
            self.times.withLock { times in times.expiry = time }
            self.arm(line)
        }
    }

    private func flush() {
        guard !outbox.hasOverflown else {
            // Not finished in good order: the client must notice that something is missing (H88).
            outbox.line?.abort()
            return
        }
        let hasLeft = outbox.flush()
        if hasLeft, times.withLock({ times in times.isEnding }) { end() }
    }

    private func end() {
        let line = outbox.line
        outbox.shut()
        line?.finish()
    }

    private func arm(_ line: any ByteChannel) {
        line.setDeadline(times.withLock { times in min(times.heartbeat, times.expiry) })
    }

    // MARK: The line

    /// Greets the client.
    public func opened(_ line: any ByteChannel) {
        line.send(EncodedEvent.greeting(retry: settings.retry, at: handler.resumePosition).bytes)
        let heartbeat = line.milliseconds + settings.heartbeat
        times.withLock { times in times.heartbeat = heartbeat }
        arm(line)
        outbox.connect(line)
        handler.opened(self)
    }

    /// Shows that the stream lives, or ends it.
    public func deadlinePassed() {
        guard let line = outbox.line else { return }
        let now = line.milliseconds
        let (beats, hasExpired) = times.withLock { times -> (Bool, Bool) in
            let beats = now >= times.heartbeat
            if beats { times.heartbeat = now + settings.heartbeat }
            return (beats, now >= times.expiry)
        }
        guard !hasExpired else { return end() }
        // Behind a full line a heartbeat proves nothing, and none overtakes what waits: it names the
        // place behind that.
        if beats, !isFull { line.send(EncodedEvent.heartbeat(at: handler.resumePosition).bytes) }
        arm(line)
    }

    /// Goes on with what waits.
    public func drained() {
        flush()
        if !isFull { handler.drained(self) }
    }

    /// Ends the stream; the client comes back elsewhere.
    public func stopping() { close() }

    /// Lets everything go.
    public func closed() {
        outbox.disconnect()
        slot?.leave()
        handler.closed(self)
    }
}

extension Int64 {
    /// A sum that stays at the end of the numbers instead of trapping.
    package func saturating(adding other: Int64) -> Int64 {
        let (sum, overflowed) = addingReportingOverflow(other)
        return overflowed ? (other < 0 ? .min : .max) : sum
    }
}
