/// Brings the messages of a conversation into the order of sending (X1.3), some with each step.
///
/// Messages before the first one that is out of order keep their positions. All later ones are sorted by the time of
/// sending, then by id, and move to consecutive positions that had no message before, the newest first. So after each
/// step the conversation ends with messages in order, and the others are where they were.
///
/// The first step reserves positions for all of them. If the steps were interrupted, a new sort finds the messages that
/// are in order at the end, and the positions reserved before them.
public struct MessageSort: Sendable {
    /// A message with its position.
    public struct Entry: Equatable, Sendable {
        /// The message.
        public let message: Message.ID
        /// The moment of sending.
        public let sentAt: Timestamp
        /// The position.
        public let position: Position

        /// A message as stored.
        public init(_ message: Message.ID, sentAt: Timestamp, position: Position) {
            self.message = message
            self.sentAt = sentAt
            self.position = position
        }

        /// Whether a message belongs before another one.
        public static func precedes(_ left: Entry, _ right: Entry) -> Bool {
            left.sentAt == right.sentAt
                ? left.message < right.message : left.sentAt < right.sentAt
        }
    }

    /// Some messages with their new positions.
    public struct Step: Sendable {
        /// The messages at their former positions, in the order of their new ones, which are consecutive.
        public let moved: [Entry]
        /// The new position of the first of them.
        public let first: Position
        /// The new positions of all messages, sorted by former position.
        public let relocations: [Relocation]
        /// The highest position ever assigned or reserved.
        public let lastPosition: Position
        /// Positions that include those of all messages after the step.
        public let occupied: IntervalSet
        /// The earliest time of the messages that are still to be moved; `nil` after the last step.
        public let unsortedFrom: Timestamp?

        /// The new positions of the messages that the step moves.
        public var targets: Range<Int64> { first.number..<(first.number + Int64(moved.count)) }
    }

    /// The conversation.
    public let conversation: Conversation.ID
    /// The highest position that the sort knows of or has reserved. Messages after it were sent since.
    public private(set) var lastKnown: Position
    /// The latest time of a message up to ``lastKnown``.
    private var latest: Timestamp
    /// The earliest time of a message that was added out of order and is not moved; `nil` for none.
    private var late: Timestamp?
    /// The messages to be moved, in order. The array never changes, so that a step does not copy it.
    private let planned: [Entry]
    /// The number of planned messages that are still to be moved: the first ones.
    private var plannedCount: Int
    /// Messages that were sent after the sort was planned and are still to be moved, in order, after the planned ones.
    private var added: [Entry] = []
    /// The end of the reserved positions without messages; `nil` before they are reserved.
    private var end: Int64?
    /// Positions that include those of all messages up to ``lastKnown``.
    private var occupied: IntervalSet

    /// Plans the sort of a conversation.
    ///
    /// - Parameters:
    ///   - messages: All messages, in the order of their positions.
    ///   - unsortedFrom: Messages that were sent at this moment or later may not be in order; `nil` if that is unknown.
    ///   - isUnused: Whether positions between those of messages were never used.
    /// - Returns: `nil` if the messages are in order, and `unsortedFrom` is `nil`.
    public init?(
        of messages: [Entry], in conversation: Conversation.ID, unsortedFrom: Timestamp?,
        isUnused: (ClosedRange<Int64>) throws -> Bool
    ) rethrows {
        let (late, latest) = Self.firstLate(messages, after: Timestamp(milliseconds: .min))
        guard let start = [unsortedFrom, late].compactMap(\.self).min() else { return nil }
        self.conversation = conversation
        self.latest = latest
        lastKnown = messages.last?.position ?? .start
        occupied = IntervalSet(
            messages.lazy.map { entry in entry.position.number...entry.position.number })
        let first = messages.firstIndex { entry in entry.sentAt >= start } ?? messages.endIndex
        let settled = Self.settledSuffix(of: messages[first...])
        guard settled > first else {
            (planned, plannedCount) = ([], 0)
            return
        }
        // Positions that an interrupted sort has reserved, just enough for all messages before them.
        for index in settled..<messages.endIndex {
            let next = messages[index].position.number
            let free = (next - Int64(index - first))...(next - 1)
            guard messages[index - 1].position.number < free.lowerBound, try isUnused(free) else {
                continue
            }
            planned = messages[first..<index].sorted(by: Entry.precedes)
            plannedCount = planned.count
            end = next
            return
        }
        planned = messages[first...].sorted(by: Entry.precedes)
        plannedCount = planned.count
    }

    /// Whether the next step reserves positions after the last one.
    public var needsPositions: Bool { end == nil }

    /// The number of messages that are still to be moved.
    private var count: Int { plannedCount + added.count }

    /// Whether no message is to be moved.
    public var isEmpty: Bool { count == 0 }

    /// Adds the messages that were sent since the sort was planned, or since the last step.
    ///
    /// Before positions are reserved they are moved with the others. Later ones stay where they are; if one is out of order,
    /// another sort has to move it.
    ///
    /// - Parameter messages: All with positions above ``lastKnown``, in the order of their positions.
    /// - Returns: Whether the sort can go on; if not, it must be planned again.
    public mutating func add(_ messages: [Entry]) -> Bool {
        if needsPositions, let last = planned.last {
            let sorted = messages.sorted(by: Entry.precedes)
            guard let first = sorted.first, let final = sorted.last else { return true }
            guard Entry.precedes(last, first) else { return false }
            added = sorted
            latest = max(latest, final.sentAt)
            return true
        }
        guard let last = messages.last?.position, last > lastKnown else { return true }
        let (first, latest) = Self.firstLate(messages, after: self.latest)
        late = [late, first].compactMap(\.self).min()
        self.latest = latest
        occupied = occupied.union(IntervalSet((lastKnown.number + 1)...last.number))
        lastKnown = last
        return true
    }

    /// Takes the next step.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of messages that it moves, at least 1.
    ///   - last: The highest position ever assigned or reserved.
    public mutating func next(atMost limit: Int, after last: Position) -> Step {
        let reserved = end ?? last.number + Int64(count) + 1
        if end == nil {
            if last > lastKnown {
                occupied = occupied.union(IntervalSet((lastKnown.number + 1)...last.number))
            }
            lastKnown = Position(reserved - 1)
        }
        let moved = takeLast(limit)
        let first = reserved - Int64(moved.count)
        end = first
        let formers = IntervalSet(moved.map { $0.position.number...$0.position.number })
        let targets = moved.isEmpty ? IntervalSet() : IntervalSet(first...(reserved - 1))
        occupied = occupied.subtracting(formers).union(targets)
        return Step(
            moved: moved, first: Position(first),
            relocations: relocations(of: moved, to: first, avoiding: targets, upTo: last),
            lastPosition: max(last, lastKnown),
            occupied: last > lastKnown
                ? occupied.union(IntervalSet((lastKnown.number + 1)...last.number)) : occupied,
            unsortedFrom: [earliestUnmoved, late].compactMap(\.self).min())
    }

    /// The earliest time of the messages that are still to be moved.
    private var earliestUnmoved: Timestamp? {
        (plannedCount > 0 ? planned.first : added.first)?.sentAt
    }

    /// Removes the last messages from those that are still to be moved.
    private mutating func takeLast(_ limit: Int) -> [Entry] {
        let last = added.suffix(limit)
        added.removeLast(last.count)
        let others = planned[..<plannedCount].suffix(limit - last.count)
        plannedCount -= others.count
        return Array(others + last)
    }

    /// The new positions of all messages: of those that move, and of all others up to a position.
    ///
    /// - Parameter targets: No message stays there.
    private func relocations(
        of moved: [Entry], to first: Int64, avoiding targets: IntervalSet, upTo last: Position
    ) -> [Relocation] {
        var moves: [Relocation] = []
        let sorted = moved.enumerated().sorted { left, right in
            left.element.position < right.element.position
        }
        for (index, entry) in sorted {
            let (former, new) = (entry.position, Position(first + Int64(index)))
            if let end = moves.last, end.through.next == former,
                moves[moves.count - 1].extend(through: former, to: new)
            {
                continue
            }
            moves.append(
                Relocation(conversation: conversation, from: former, through: former, to: new))
        }
        guard last > .start else { return moves }
        let formers = IntervalSet(moves.map { $0.from.number...$0.through.number })
        let staying = IntervalSet(1...last.number).subtracting(formers).subtracting(targets)
        return
            (moves
            + staying.intervals.map { interval in
                Relocation(conversation: conversation, interval, to: interval.lowerBound)
            }).sorted { left, right in left.from < right.from }
    }

    /// The earliest time of a message that comes after one sent later, `nil` if the messages are in the order of
    /// sending; and the latest time.
    ///
    /// - Parameter latest: The latest time of the messages before them.
    private static func firstLate(
        _ messages: some Sequence<Entry>, after latest: Timestamp
    ) -> (time: Timestamp?, latest: Timestamp) {
        var (latest, first) = (latest, Timestamp?.none)
        for message in messages {
            if message.sentAt < latest { first = min(first ?? message.sentAt, message.sentAt) }
            latest = max(latest, message.sentAt)
        }
        return (first, latest)
    }

    /// The start of the longest suffix whose messages are in order and belong after all others.
    private static func settledSuffix(of messages: ArraySlice<Entry>) -> Int {
        var latest: [Entry] = []
        latest.reserveCapacity(messages.count)
        for entry in messages {
            latest.append(
                latest.last.map { last in Entry.precedes(last, entry) ? entry : last } ?? entry)
        }
        var start = messages.endIndex
        while start > messages.startIndex {
            let index = start - 1
            if index + 1 < messages.endIndex,
                !Entry.precedes(messages[index], messages[index + 1])
            {
                break
            }
            start = index
        }
        // From here on the suffix is in order, so its first message precedes the others.
        while start > messages.startIndex, start < messages.endIndex,
            !Entry.precedes(latest[start - 1 - messages.startIndex], messages[start])
        {
            start += 1
        }
        return start
    }
}
