/// An event's place in the log of its application: 1, 2, 3 … without gaps.
public struct LogPosition: Hashable, Comparable, Sendable {
    /// Counted from one; zero is the place before the first event.
    public let number: Int64

    /// The place with that number.
    public init(_ number: Int64) {
        self.number = number
    }

    /// The place before the first event.
    public static let start = LogPosition(0)

    /// The earlier place comes first.
    public static func < (left: Self, right: Self) -> Bool {
        left.number < right.number
    }
}
