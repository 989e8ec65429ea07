/// The new positions of a range of messages after a merge or a sort (X1.3).
///
/// The message at position `from` + n, up to `through`, now has position `to` + n of the winner. A position in no range
/// has no message.
public struct Relocation: Equatable, Sendable {
    /// The conversation of the former positions.
    public let conversation: Conversation.ID
    /// The first position.
    public let from: Position
    /// The last position.
    public private(set) var through: Position
    /// The new position of the first one.
    public let to: Position

    /// A range of at least one position.
    public init(
        conversation: Conversation.ID, from first: Position, through last: Position,
        to new: Position
    ) {
        self.conversation = conversation
        from = first
        through = last
        to = new
    }

    /// A range of positions, as numbers.
    init(conversation: Conversation.ID, _ range: ClosedRange<Int64>, to new: Int64) {
        self.init(
            conversation: conversation, from: Position(range.lowerBound),
            through: Position(range.upperBound), to: Position(new))
    }

    /// The distance by which the positions moved.
    public var shift: Int64 { to.number - from.number }

    /// Whether the numbers of the positions did not change.
    public var isUnmoved: Bool { from == to }

    /// Extends the range up to a later position if that moves by the same distance.
    ///
    /// - Returns: Whether the range was extended.
    mutating func extend(through former: Position, to new: Position) -> Bool {
        guard new.number - former.number == shift else { return false }
        through = former
        return true
    }
}

extension IntervalSet {
    /// Returns the new positions of these positions, without those in no range.
    ///
    /// - Parameter relocations: Those of the conversation of these positions, sorted by former position.
    public func relocated(by relocations: some Sequence<Relocation>) -> IntervalSet {
        var moved: [ClosedRange<Int64>] = []
        var rest = intervals[...]
        for relocation in relocations {
            let (first, last) = (relocation.from.number, relocation.through.number)
            while let interval = rest.first, interval.upperBound < first { rest.removeFirst() }
            for interval in rest {
                guard interval.lowerBound <= last else { break }
                let (low, high) = (max(interval.lowerBound, first), min(interval.upperBound, last))
                moved.append((low + relocation.shift)...(high + relocation.shift))
            }
        }
        return IntervalSet(moved)
    }
}
