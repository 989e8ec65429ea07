/// Where a stretch of messages went when conversations were merged (X1.3).
///
/// A message of the place `from` + n stands at `to` + n of the winner now, as far as `through`. A place
/// that none names has no message any more.
public struct Relocation: Equatable, Sendable {
    /// The conversation whose places these were.
    public let conversation: Conversation.ID
    /// The first place.
    public let from: Position
    /// The last place.
    public private(set) var through: Position
    /// Where the first one stands in the winner.
    public let to: Position

    /// A stretch of at least one place.
    public init(
        conversation: Conversation.ID, from first: Position, through last: Position,
        to place: Position
    ) {
        self.conversation = conversation
        from = first
        through = last
        to = place
    }

    /// How far each of them went.
    public var shift: Int64 { to.number - from.number }

    /// Whether they stand where they stood, should the winner be that conversation.
    public var isStanding: Bool { from == to }

    /// The stretch with the next place behind it, when that has gone as far.
    mutating func extend(through place: Position, to new: Position) -> Bool {
        guard new.number - place.number == shift else { return false }
        through = place
        return true
    }
}

extension IntervalSet {
    /// The same messages where they stand now; those of no stretch are left out.
    ///
    /// - Parameter stretches: Of the conversation whose places these are, the lowest first.
    public func relocated(by stretches: some Sequence<Relocation>) -> IntervalSet {
        var moved: [ClosedRange<Int64>] = []
        var rest = intervals[...]
        for stretch in stretches {
            let (first, last) = (stretch.from.number, stretch.through.number)
            while let interval = rest.first, interval.upperBound < first { rest.removeFirst() }
            for interval in rest {
                guard interval.lowerBound <= last else { break }
                let (low, high) = (max(interval.lowerBound, first), min(interval.upperBound, last))
                moved.append((low + stretch.shift)...(high + stretch.shift))
            }
        }
        return IntervalSet(moved)
    }
}
