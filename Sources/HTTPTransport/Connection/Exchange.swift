import HTTP

/// What a head says about the answer to it; all that is kept of a head while the answer is made.
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

/// One request whose answer is being worked out, and its body.
final class Exchange: @unchecked Sendable {
    // Sendable because it is only used on the loop of its connection.

    let terms: RequestTraits
    let policy: BodyPolicy
    var record: RequestRecord
    let startedAt: Int64
    let beganAt: Int64

    var decoder: BodyDecoder
    /// The read that waits for bytes.
    var pending: PendingRead?
    /// Set when the body cannot be read any further.
    var failure: BodyError?
    /// The handler stops receiving: one more read takes what has come, and then the body has failed.
    var isInterrupted = false
    /// `100 Continue` is still owed (H73, H74).
    var owesContinue: Bool
    /// Bytes of the body received so far, for the rate (H175).
    var received: Int64 = 0
    /// When something of the body last came, in milliseconds that were spent waiting for it.
    var lastReceipt: Int64 = 0
    /// When the bytes in the pending buffer are handed over, full or not.
    var handOver: Int64?
    var task: Task<Void, Never>?
    /// Where the request waits for a handler; `nil` once it has one (H187).
    var place: HandlerQueue.Place?
    /// When the handler will have worked for too long, unless it waits for its peer meanwhile (H177).
    private var handlerDue: Int64 = .max

    /// When the body was first waited for; moved on by the time in which nobody waited.
    private var waitingSince: Int64?
    private var stoppedAt: Int64 = 0
    private var readSince: Int64 = 0

    /// A read of the handler that waits.
    struct PendingRead {
        var buffer: BodyBuffer
        let resume: @Sendable (BodyBuffer, BodyError?) -> Void
    }

    init(
        _ terms: RequestTraits, _ policy: BodyPolicy, _ record: RequestRecord, startedAt: Int64,
        beganAt: Int64
    ) {
        self.terms = terms
        self.policy = policy
        self.record = record
        self.startedAt = startedAt
        self.beganAt = beganAt
        decoder = BodyDecoder(terms.framing, limit: policy.limit, keeping: policy.trailer)
        owesContinue = terms.expectsContinue
    }

    /// Notes that a handler begins.
    func beginWork(at now: Int64, _ configuration: ServerConfiguration) {
        if policy.isTimed { handlerDue = now + configuration.handlerTimeout }
    }

    /// Until when the handler may work: its own time, and that of the whole request (H176, H177).
    func workDue(_ configuration: ServerConfiguration) -> Int64 {
        guard policy.isTimed else { return .max }
        // Whose body has broken off, perhaps because the request took too long, may still say so.
        return failure == nil
            ? min(handlerDue, beganAt + configuration.requestTimeout) : handlerDue
    }

    /// Notes that a handler waits for bytes.
    ///
    /// The time since its last read was the handler's, and is not held against the peer.
    func beginWaiting(_ read: PendingRead, at now: Int64) {
        pending = read
        readSince = now
        if let since = waitingSince {
            waitingSince = since + now - stoppedAt
            lastReceipt += now - stoppedAt
        } else {
            waitingSince = now
            lastReceipt = now
        }
    }

    /// Hands the pending buffer back to the handler.
    ///
    /// What came before a break is handed over first, and the next read throws.
    func stopWaiting(_ error: BodyError?, at now: Int64) {
        guard let read = pending else { return }
        pending = nil
        handOver = nil
        // What it waited for its peer is not its own time.
        if handlerDue < .max { handlerDue += now - readSince }
        stoppedAt = now
        read.resume(read.buffer, read.buffer.count == 0 ? error : nil)
    }

    /// Idle time, rate, duration and patience, whichever comes first (H175, H176).
    func due(_ configuration: ServerConfiguration) -> Int64 {
        guard let since = waitingSince else { return .max }
        var due = lastReceipt + (policy.idleMilliseconds ?? configuration.bodyIdleTimeout)
        let rate = policy.minimumRate ?? configuration.minimumBodyRate
        if rate > 0 {
            // The moment from which what has come is too little for the time that has passed.
            let grace = policy.graceMilliseconds ?? configuration.bodyGrace
            due = min(due, since + max(grace, received * 1000 / rate))
        }
        if policy.isTimed { due = min(due, beganAt + configuration.requestTimeout) }
        if let handOver { due = min(due, handOver) }
        return due
    }
}
