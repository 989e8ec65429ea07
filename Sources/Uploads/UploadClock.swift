import Locking

/// Time, handed in so that tests need not wait.
public struct UploadClock: Sendable {
    /// Milliseconds since 1970 UTC.
    public let now: @Sendable () -> Int64
    /// Waits that many milliseconds; returns early when its task is cancelled.
    public let sleep: @Sendable (Int64) async -> Void

    /// Makes a clock, which really waits unless it is told how else.
    public init(
        now: @escaping @Sendable () -> Int64, sleep: (@Sendable (Int64) async -> Void)? = nil
    ) {
        self.now = now
        self.sleep = sleep ?? pause(milliseconds:)
    }

    /// Whether what nobody knows is left over. What is younger than an hour may belong to an upload that
    /// is just beginning, or to a commit that is just made.
    func isOrphaned(since moment: Int64) -> Bool { now() - moment > 3_600_000 }
}
