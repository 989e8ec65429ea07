/// Time, handed in so that tests need not wait.
public struct UploadClock: Sendable {
    /// Milliseconds since 1970 UTC.
    public let now: @Sendable () -> Int64
    /// Waits that many milliseconds; returns early when its task is cancelled.
    public let sleep: @Sendable (Int64) async -> Void

    /// Makes a clock.
    public init(
        now: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Int64) async -> Void = { milliseconds in
            // A cancelled sleep means that nobody waits any more.
            try? await Task.sleep(for: .milliseconds(milliseconds))
        }
    ) {
        self.now = now
        self.sleep = sleep
    }
}
