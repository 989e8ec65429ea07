/// A moment: whole milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970 UTC; negative before.
    public let milliseconds: Int64

    /// The moment so many milliseconds after 1970 UTC.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The earlier moment comes first.
    public static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The moment one millisecond later.
    public var next: Timestamp { Timestamp(milliseconds: milliseconds &+ 1) }
}
