import Locking

/// Lets each kind of event be told once in a while, however often it happens (H183, H209).
final class NoticeLimit: Sendable {
    /// Milliseconds between two notices of a kind.
    private static let interval: Int64 = 10_000
    private let last = Locked([Int64?](repeating: nil, count: ServerEvent.kindCount))

    /// Whether an event is to be told.
    ///
    /// - Parameter now: A monotonic clock, in milliseconds.
    func allows(_ event: ServerEvent, now: Int64) -> Bool {
        last.withLock { last in
            if let time = last[event.kind], now - time < Self.interval { return false }
            last[event.kind] = now
            return true
        }
    }
}
