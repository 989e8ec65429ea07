/// The messages of two merged conversations in their common order, with their new positions (X1.3).
///
/// The winner's messages before the first message of the other keep their positions; those sent in the same
/// millisecond keep their order. All later messages are sorted by the time of sending, then by id, after
/// the last position.
struct MessageOrder {
    /// Each message once, in order, with its new position.
    private(set) var messages: [MergeableConversation.PositionedMessage] = []
    private var winners = RelocationList()
    private var losers = RelocationList()
    private let winner: MergeableConversation

    /// Orders the messages.
    ///
    /// - Parameter loser: The other conversation; `nil` to sort only the winner's messages.
    init(of winner: MergeableConversation, and loser: MergeableConversation?) {
        self.winner = winner
        let ofWinner = Source.all(of: winner, areOfWinner: true)
        let ofLoser = loser.map { loser in Source.all(of: loser, areOfWinner: false) } ?? []
        let known = Set(ofLoser.isEmpty ? [] : winner.messages.map(\.message))
        let new = ofLoser.filter { source in !known.contains(source.entry.message) }
        let firstMoved = [winner.firstLate, new.map(\.entry.sentAt).min()].compactMap(\.self).min()
        let unmoved = ofWinner.prefix { source in
            firstMoved.map { source.entry.sentAt < $0 } ?? true
        }
        let moved = (ofWinner[unmoved.endIndex...] + new).sorted(by: Source.precedes)
        keep(unmoved)
        move(moved)
        // A message that both contain appears once.
        if ofLoser.count > new.count { join(ofLoser.filter { known.contains($0.entry.message) }) }
    }

    /// The positions that have a message.
    var positions: IntervalSet { IntervalSet(messages.lazy.map(\.position.number).map { $0...$0 }) }

    /// The widest gap between two neighbours that is kept when they move: the difference of their positions.
    private static let widestGap: Int64 = 1024

    /// The highest position ever assigned.
    var lastPosition: Position { max(winner.lastPosition, messages.last?.position ?? .start) }

    /// The new positions of the winner's messages, sorted by former position.
    var ofWinner: [Relocation] { winners.inOrder }

    /// The new positions of the loser's messages, sorted by former position.
    var ofLoser: [Relocation] { losers.inOrder }

    private mutating func keep(_ sources: ArraySlice<Source>) {
        messages.reserveCapacity(sources.count)
        for source in sources {
            messages.append(source.entry)
            winners.add(source, at: source.entry.position, isNeighbour: true)
        }
    }

    private mutating func move(_ sources: [Source]) {
        var (last, end) = (Source?.none, lastPosition)
        for source in sources {
            // Neighbours keep the gap between them, so that they share a range, unless it is so wide that repeated
            // merges would let positions grow without limit.
            let gap = source.gap(after: last)
            let isNeighbour = last.map(source.follows) ?? false && gap <= Self.widestGap
            let step = isNeighbour ? gap : 1
            end = Position(end.number + step)
            messages.append(
                MergeableConversation.PositionedMessage(
                    source.entry.message, sentAt: source.entry.sentAt, position: end))
            relocate(source, to: end, isNeighbour: isNeighbour)
            last = source
        }
    }

    private mutating func join(_ sources: [Source]) {
        let known = Dictionary(
            uniqueKeysWithValues: messages.map { entry in (entry.message, entry.position) })
        for source in sources {
            guard let new = known[source.entry.message] else { continue }
            relocate(source, to: new, isNeighbour: false)
        }
    }

    private mutating func relocate(_ source: Source, to new: Position, isNeighbour: Bool) {
        if source.isOfWinner {
            winners.add(source, at: new, isNeighbour: isNeighbour)
        } else {
            losers.add(source, at: new, isNeighbour: isNeighbour)
        }
    }
}

extension MergeableConversation {
    /// The earliest time of a message that comes after one sent later; `nil` if the messages are in the order of
    /// sending.
    fileprivate var firstLate: Timestamp? {
        var (latest, first) = (Timestamp(milliseconds: .min), Timestamp?.none)
        for message in messages {
            if message.sentAt < latest { first = min(first ?? message.sentAt, message.sentAt) }
            latest = max(latest, message.sentAt)
        }
        return first
    }
}

/// A message to order, with its conversation and its index among the messages of that conversation.
private struct Source {
    let conversation: Conversation.ID
    let entry: MergeableConversation.PositionedMessage
    /// Whether it is a message of the winner.
    let isOfWinner: Bool
    let index: Int

    static func all(of copy: MergeableConversation, areOfWinner: Bool) -> [Source] {
        copy.messages.enumerated().map { index, entry in
            Source(conversation: copy.id, entry: entry, isOfWinner: areOfWinner, index: index)
        }
    }

    static func precedes(_ left: Source, _ right: Source) -> Bool {
        let (left, right) = (left.entry, right.entry)
        return left.sentAt == right.sentAt
            ? left.message < right.message : left.sentAt < right.sentAt
    }

    /// Whether this message came directly after the other one in the same conversation.
    func follows(_ other: Source) -> Bool {
        isOfWinner == other.isOfWinner && index == other.index + 1
    }

    func gap(after other: Source?) -> Int64 {
        entry.position.number - (other?.entry.position.number ?? 0)
    }
}

/// The new positions of one conversation's messages; messages that stay neighbours share a range.
private struct RelocationList {
    private var list: [Relocation] = []
    private var last: Source?

    var inOrder: [Relocation] { list.sorted { left, right in left.from < right.from } }

    /// Adds the new position of a message.
    ///
    /// - Parameter isNeighbour: Whether it has the same predecessor as before the merge, at the same distance.
    mutating func add(_ source: Source, at new: Position, isNeighbour: Bool) {
        let former = source.entry.position
        if let last, source.follows(last), isNeighbour || source.gap(after: last) == 1,
            list[list.count - 1].extend(through: former, to: new)
        {
            self.last = source
            return
        }
        list.append(
            Relocation(conversation: source.conversation, from: former, through: former, to: new))
        last = source
    }
}

/// The new positions of a range of messages after a merge (X1.3).
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
