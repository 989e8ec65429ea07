/// Lets through so many in a second and so many at once (H145, platform-api §1.11).
package struct RateBucket: Sendable {
    private let perSecond: Int64
    private let burst: Int64
    /// In thousandths, so that a millisecond brings a whole number.
    private var available: Int64
    private var updated = Int64(0)

    /// A full bucket.
    package init(perSecond: Int64, burst: Int64) {
        self.perSecond = max(perSecond, 1)
        self.burst = burst
        available = burst * 1000
    }

    /// Whether as many may pass at once as ever.
    package var isFull: Bool { available == burst * 1000 }
    /// Whether none may pass now; the next one may within a second.
    package var isEmpty: Bool { available < 1000 }

    /// Counts what time brought, in milliseconds of any one clock; backwards it brings nothing.
    package mutating func refill(at now: Int64) {
        // A rest longer than it takes to fill is as good as that long; and the product stays small.
        let elapsed = min(max(now - updated, 0), 1 + burst * 1000 / perSecond)
        available = min(burst * 1000, available + elapsed * perSecond)
        updated = now
    }

    /// Counts one that passed.
    package mutating func take() { available -= 1000 }

    /// What the caller may be told of it.
    package var standing: RateStanding {
        RateStanding(
            quota: burst, window: Self.seconds(burst * 1000, perSecond),
            remaining: max(available, 0) / 1000,
            reset: Self.seconds(burst * 1000 - available, perSecond))
    }

    /// Whole seconds, rounded up, in which so many thousandths come.
    private static func seconds(_ thousandths: Int64, _ perSecond: Int64) -> Int64 {
        (thousandths + 1000 * perSecond - 1) / (1000 * perSecond)
    }
}
