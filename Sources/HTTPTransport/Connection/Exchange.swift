import HTTP

/// The properties of a request head that its response depends on; nothing else of the head is kept while the
/// response is made.
struct RequestTraits {
    let framing: BodyFraming
    let answersHead: Bool
    let isHTTP10: Bool
    let expectsContinue: Bool

    init(_ head: borrowing RequestHead) {
        framing = head.framing
        answersHead = head.method == .head
        isHTTP10 = head.isHTTP10
        expectsContinue = head.expectsContinue
    }
}

/// A request that a handler works on, and the state of its body.
final class Exchange: @unchecked Sendable {
    // Sendable because it is used only on the loop of its connection.

    let traits: RequestTraits
    let policy: BodyPolicy
    var record: RequestRecord
    let startedAt: Int64
    private let headEndedAt: Int64

    var decoder: BodyDecoder
    /// The handler's read that waits for bytes.
    var pendingRead: PendingRead?
    /// Set when the body has failed; no more bytes are read.
    var failure: BodyError?
    /// Whether the handler has interrupted the body: one more read returns the received bytes, later reads
    /// fail.
    var isInterrupted = false
    /// Whether `100 Continue` must still be sent (H73, H74).
    private var mustSendContinue: Bool
    /// The number of bytes of the body received so far, for the minimum rate (H175).
    private(set) var received: Int64 = 0
    /// The time of the last received byte, in milliseconds; time without a waiting read does not count.
    private var lastReceivedAt: Int64 = 0
    /// The time at which the received bytes are delivered even if the buffer is not full.
    private var deliverAt: Int64?
    var task: Task<Void, Never>?
    /// The position in the queue for handlers; `nil` when it has left the queue (H187).
    var queueEntry: HandlerQueue.Entry?
    /// The deadline of the handler; the time in which it waits for its peer does not count (H177).
    private var workDeadline: Int64 = .max

    /// The time of the first read; shifted by the times without a waiting read.
    private var waitingSince: Int64?
    private var stoppedAt: Int64 = 0
    private var readStartedAt: Int64 = 0

    /// A read of the handler that waits for bytes.
    struct PendingRead {
        var buffer: BodyBuffer
        let resume: @Sendable (BodyBuffer, BodyError?) -> Void
    }

    init(
        _ traits: RequestTraits, _ policy: BodyPolicy, _ record: RequestRecord, startedAt: Int64,
        headEndedAt: Int64
    ) {
        self.traits = traits
        self.policy = policy
        self.record = record
        self.startedAt = startedAt
        self.headEndedAt = headEndedAt
        decoder = BodyDecoder(traits.framing, limit: policy.limit, keeping: policy.trailer)
        mustSendContinue = traits.expectsContinue
    }

    /// Starts the time limit of the handler.
    func beginWork(at now: Int64, _ configuration: ServerConfiguration) {
        if policy.isTimed { workDeadline = now + configuration.handlerTimeout }
    }

    /// The deadline of the handler: its own time limit, and that of the whole request (H176, H177).
    func handlerDeadline(_ configuration: ServerConfiguration) -> Int64 {
        guard policy.isTimed else { return .max }
        // After a failed body, perhaps because of the request's time limit, the handler can still send a
        // response.
        return failure == nil
            ? min(workDeadline, headEndedAt + configuration.requestTimeout) : workDeadline
    }

    /// Starts a read.
    ///
    /// The time since the previous read was spent by the handler, so it does not count for the peer.
    func beginRead(_ read: PendingRead, at now: Int64) {
        pendingRead = read
        readStartedAt = now
        if let since = waitingSince {
            waitingSince = since + now - stoppedAt
            lastReceivedAt += now - stoppedAt
        } else {
            waitingSince = now
            lastReceivedAt = now
        }
    }

    /// Returns true once: at the first read of a client that waits for `100 Continue`.
    func takeContinue() -> Bool {
        defer { mustSendContinue = false }
        return mustSendContinue
    }

    /// Counts received bytes of the body.
    func count(_ bytes: Int, at now: Int64) {
        received += Int64(bytes)
        if bytes > 0 { lastReceivedAt = now }
    }

    /// Sets the time of delivery of the pending read, unless it has one.
    func deliver(from now: Int64) {
        deliverAt = deliverAt ?? now + policy.coalescingMilliseconds
    }

    /// Whether received bytes must be delivered although the buffer of the read is not full.
    func mustDeliver(at now: Int64) -> Bool { deliverAt.map { time in time <= now } ?? false }

    /// Ends the pending read.
    ///
    /// Bytes received before a failure are returned first; the next read throws.
    func endRead(_ error: BodyError?, at now: Int64) {
        guard let read = pendingRead else { return }
        pendingRead = nil
        deliverAt = nil
        // The time spent waiting for the peer does not count for the handler.
        if workDeadline < .max { workDeadline += now - readStartedAt }
        stoppedAt = now
        read.resume(read.buffer, read.buffer.count == 0 ? error : nil)
    }

    /// The deadline of a pending read: the earliest of idle time, minimum rate, request time limit and
    /// delivery time (H175, H176).
    func readDeadline(_ configuration: ServerConfiguration) -> Int64 {
        guard let since = waitingSince else { return .max }
        var due = lastReceivedAt + (policy.idleMilliseconds ?? configuration.bodyIdleTimeout)
        let rate = policy.minimumRate ?? configuration.minimumBodyRate
        if rate > 0 {
            // From this time on the average rate is too low.
            let grace = policy.graceMilliseconds ?? configuration.bodyGrace
            due = min(due, since + max(grace, received * 1000 / rate))
        }
        if policy.isTimed { due = min(due, headEndedAt + configuration.requestTimeout) }
        if let deliverAt { due = min(due, deliverAt) }
        return due
    }
}
