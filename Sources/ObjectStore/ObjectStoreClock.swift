/// Time and chance, handed in so that tests need neither wait nor guess.
public struct ObjectStoreClock: Sendable {
    /// Milliseconds since 1970 UTC.
    public let now: @Sendable () -> Int64
    /// Waits that many milliseconds; returns early when its task is cancelled.
    public let sleep: @Sendable (Int64) async -> Void
    /// Any number of a range, each as likely as the others.
    public let random: @Sendable (ClosedRange<Int64>) -> Int64

    /// Makes a clock.
    public init(
        now: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Int64) async -> Void = { milliseconds in
            // A cancelled sleep means that nobody waits any more.
            try? await Task.sleep(for: .milliseconds(milliseconds))
        },
        random: @escaping @Sendable (ClosedRange<Int64>) -> Int64 = { range in
            Int64.random(in: range)
        }
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }
}
