import Locking

/// Time and chance, handed in so that tests need neither wait nor guess.
public struct ObjectStoreClock: Sendable {
    /// Milliseconds since 1970 UTC.
    public let now: @Sendable () -> Int64
    /// Waits that many milliseconds; returns early when its task is cancelled.
    public let sleep: @Sendable (Int64) async -> Void
    /// Any number of a range, each as likely as the others.
    public let random: @Sendable (ClosedRange<Int64>) -> Int64

    /// Makes a clock, which really waits unless it is told how else.
    public init(
        now: @escaping @Sendable () -> Int64, sleep: (@Sendable (Int64) async -> Void)? = nil,
        random: @escaping @Sendable (ClosedRange<Int64>) -> Int64 = { range in
            Int64.random(in: range)
        }
    ) {
        self.now = now
        self.sleep = sleep ?? pause(milliseconds:)
        self.random = random
    }
}
