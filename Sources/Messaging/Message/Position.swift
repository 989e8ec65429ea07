/// A message's place in its conversation: 1, 2, 3 … without gaps, given at commit (R26).
public struct Position: Hashable, Comparable, Sendable {
    /// Counted from one; zero is the place before the first message.
    public let number: Int64

    /// The place with that number.
    public init(_ number: Int64) {
        self.number = number
    }

    /// The place before the first message.
    public static let start = Position(0)

    /// Behind every message there can be.
    public static let last = Position(.max)

    /// The next place; the last one there can be stays.
    public var next: Position { self == .last ? self : Position(number + 1) }

    /// The earlier place comes first.
    public static func < (left: Self, right: Self) -> Bool {
        left.number < right.number
    }
}
