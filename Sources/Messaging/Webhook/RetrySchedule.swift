/// When a delivery that failed is tried again, and when it is given up (X6).
public struct RetrySchedule: Equatable, Sendable {
    /// Milliseconds between one try and the next, in order; after the last it is given up.
    public var waits: [Int64]
    /// By how much a wait differs from what is said, at most: ±20 %.
    static let jitter = 0.2
    /// What counts as waiting behind others is longer than this in milliseconds, however short the schedule.
    static let leastAge: Int64 = 60_000

    /// Nine tries after the first within about 75 hours.
    public static let usual = RetrySchedule(
        waits: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map { $0 * 1000 })

    /// A schedule.
    public init(waits: [Int64]) {
        self.waits = waits
    }

    /// The longest time between the first try and the last, without jitter.
    public var span: Int64 { waits.reduce(0, +) }

    /// The next try.
    ///
    /// - Parameters:
    ///   - attempts: How often it was tried, the failure included; from one.
    ///   - asked: When it was made, or asked for again: what has waited behind another for longer than
    ///     the whole schedule is tried once, so that a receiver that comes back soon hears of the present.
    ///   - chance: From 0 to 1: where in the range of the jitter.
    /// - Returns: `nil` when it is given up.
    public func next(
        after attempts: Int64, asked: Timestamp, now: Timestamp, chance: Double
    ) -> Timestamp? {
        guard attempts <= waits.count, attempts > 0 else { return nil }
        let age = now.milliseconds - asked.milliseconds
        guard attempts > 1 || age <= max(span, Self.leastAge) else { return nil }
        let wait = Double(waits[Int(attempts) - 1]) * (1 + Self.jitter * (2 * chance - 1))
        return Timestamp(milliseconds: now.milliseconds + Int64(wait))
    }
}
