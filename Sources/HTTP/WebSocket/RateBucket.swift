/// Lets through so many in a second and so many at once (H145).
struct RateBucket: Sendable {
    private let perSecond: Int64
    private let burst: Int64
    /// In thousandths, so that a millisecond brings a whole number.
    private var available: Int64
    private var updated = Int64(0)

    init(perSecond: Int64, burst: Int64) {
        self.perSecond = max(perSecond, 1)
        self.burst = burst
        available = burst * 1000
    }

    /// Whether as many may pass at once as ever.
    var isFull: Bool { available == burst * 1000 }
    var isEmpty: Bool { available < 1000 }

    /// Counts what time brought.
    mutating func refill(at now: Int64) {
        // A rest longer than it takes to fill is as good as that long; and the product stays small.
        let elapsed = min(max(now - updated, 0), 1 + burst * 1000 / perSecond)
        available = min(burst * 1000, available + elapsed * perSecond)
        updated = now
    }

    /// Counts one that passed.
    mutating func take() { available -= 1000 }
}
