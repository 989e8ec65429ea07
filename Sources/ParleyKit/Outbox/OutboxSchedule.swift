/// When rows of the outbox may be sent: after failures later, and deliveries of a conversation once a second. A value
/// without a clock.
struct OutboxSchedule {
    typealias Instant = ContinuousClock.Instant

    /// How long a conversation's next report of deliveries waits after the one before (K55).
    static let deliveryPause = Duration.seconds(1)

    /// How often back-offs had been ended when the delays of this value were set.
    private(set) var kicks = 0
    private var failures: [String: Int] = [:]
    private var retries: [String: Instant] = [:]
    private var deliveries: [String: Instant] = [:]

    /// Ends the delays after failures.
    mutating func endDelays(kicks: Int) {
        self.kicks = kicks
        (failures, retries) = ([:], [:])
    }

    /// Records that a row is sent.
    mutating func noteStart(of row: OutboxRow, at now: Instant) {
        guard row.kind == .delivery else { return }
        deliveries = deliveries.filter { _, until in until > now }
        deliveries[row.lane] = now + Self.deliveryPause
    }

    /// Records that an attempt has failed, and delays the next one of its lane (K32).
    ///
    /// - Parameter after: The delay; by default a random one that grows with the number of failures.
    mutating func noteFailure(in lane: String, retryingAfter after: Duration?, at now: Instant) {
        let attempt = failures[lane, default: 0] + 1
        failures[lane] = attempt
        retries[lane] = now + (after ?? Backoff.delay(attempt: attempt, first: 1, most: 300))
    }

    /// Whether rows may have to wait.
    var hasDelays: Bool { !retries.isEmpty || !deliveries.isEmpty }

    /// When a row may be sent; `nil` for now.
    func time(of row: OutboxRow) -> Instant? {
        let delivery = row.kind == .delivery ? deliveries[row.lane] : nil
        return [retries[row.lane], delivery].compactMap(\.self).max()
    }

    /// Whether a row may be sent.
    func allows(_ row: OutboxRow, at now: Instant) -> Bool {
        time(of: row).map { time in time <= now } ?? true
    }

    /// How long to wait for the first of some rows that may be sent later, in milliseconds; `nil` without one.
    func pause(before rows: some Sequence<OutboxRow>, at now: Instant) -> Int64? {
        let next = rows.compactMap { row in time(of: row) }.filter { time in time > now }.min()
        return next.map { next in max(1, Int64((next - now) / .milliseconds(1))) }
    }
}
