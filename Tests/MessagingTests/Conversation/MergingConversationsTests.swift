import Messaging
import TestSupport
import Testing

@Suite struct `Merging conversations` {
    /// The numbers of messages that a step of a sort moves.
    private static let limits = [2, 1024]

    @Test(arguments: 0..<500, limits) func `X1.1: the order of two conversations does not matter`(
        case number: UInt64, limit: Int
    ) {
        var random = SeededGenerator(number)
        let (left, right) = (random.copy(1), random.copy(2))
        let both = left.merging(right, sortingAtMost: limit)
        #expect(both == left.merging(right, sortingAtMost: limit))
        #expect(both.meaning == right.merging(left, sortingAtMost: 1024).meaning)
    }

    @Test(arguments: 0..<500, limits)
    func `X1.1: the grouping of three conversations does not matter`(
        case number: UInt64, limit: Int
    ) {
        var random = SeededGenerator(number)
        let (one, two, three) = (random.copy(1), random.copy(2), random.copy(3))
        let left = one.merging(two, sortingAtMost: limit).merging(three, sortingAtMost: limit)
        let right = one.merging(two.merging(three, sortingAtMost: limit), sortingAtMost: limit)
        #expect(left.meaning == right.meaning)
    }

    @Test(arguments: 0..<500) func `X1.3: sorting again changes nothing`(case number: UInt64) {
        var random = SeededGenerator(number)
        let both = random.copy(1).merging(random.copy(2), sortingAtMost: 3)
        #expect(both.conversation.unsortedFrom == nil)
        #expect(both.sort == nil)
    }

    @Test(arguments: 0..<500)
    func `X1.3: an interrupted sort continues where it was, and each step keeps what users see`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let (left, right) = (random.copy(1), random.copy(2))
        let whole = left.merging(right, sortingAtMost: 1024)
        var copy = left.joining(right).copy
        var moved = 0
        while let sort = copy.sort {
            var next = sort
            let before = copy.meaning
            moved += copy.take(&next, atMost: 2).moved.count
            #expect(copy.meaning.isEqualInAnyOrder(to: before))
        }
        #expect(copy.meaning == whole.meaning)
        #expect(moved <= copy.messages.count)
        #expect(copy.conversation.lastPosition == whole.conversation.lastPosition)
    }

    @Test(arguments: 0..<500)
    func `X1.3: messages that are sent during a sort stay last`(case number: UInt64) {
        var random = SeededGenerator(number)
        var copy = random.copy(1).joining(random.copy(2)).copy
        var sent: [Message.ID] = []
        var time = (copy.messages.map(\.sentAt.milliseconds).max() ?? 0) + 1
        while let planned = copy.sort {
            var sort = planned
            for _ in 0..<random.number(1...3) {
                for _ in 0..<random.number(0...2) {
                    sent.append(.sample(UInt128(1_000 + sent.count)))
                    copy.send(sent[sent.count - 1], at: time)
                    time += 1
                }
                guard !sort.isEmpty || sort.needsPositions else { break }
                let isAfter = sort.add(copy.messages.filter { $0.position > sort.lastKnown })
                #expect(isAfter)
                copy.take(&sort, atMost: 2)
            }
        }
        #expect(copy.messages.suffix(sent.count).map(\.message) == sent)
        let times = copy.messages.map(\.sentAt)
        #expect(times == times.sorted())
    }

    @Test func `X1.3: a message out of order that is added during a sort is moved by the next one`()
        throws
    {
        let old = SortedCopy.sample(1, [(1, 10), (2, 30), (3, 50)], last: 3)
        let new = SortedCopy.sample(2, [(1, 20), (2, 40)], last: 2)
        var copy = old.joining(new).copy
        var sort = try #require(copy.sort)
        copy.take(&sort, atMost: 1)
        for time in [60, 15, 70] as [Int64] {
            copy.send(.sample(UInt128(1_000 + time)), at: time)
            let isAdded = sort.add(copy.messages.filter { $0.position > sort.lastKnown })
            #expect(isAdded)
        }
        while !sort.isEmpty {
            let step = copy.take(&sort, atMost: 1)
            #expect(step.unsortedFrom == Timestamp(milliseconds: 15))
        }
        var next = try #require(copy.sort)
        while !next.isEmpty { copy.take(&next, atMost: 2) }
        #expect(copy.messages.map(\.sentAt.milliseconds) == [10, 15, 20, 30, 40, 50, 60, 70])
        #expect(copy.conversation.unsortedFrom == nil)
    }

    @Test(arguments: 0..<500)
    func `X1.3: messages are ordered by time and id, and their statuses are kept`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let (left, right) = (random.copy(1), random.copy(2))
        let both = left.merging(right, sortingAtMost: 3)
        // Within one millisecond ordered by id, unless the winner had both before the other's first.
        let winner = both.conversation.id == left.conversation.id ? left : right
        let own = Set(winner.messages.map(\.message))
        let first =
            own.isEmpty
            ? nil : both.messages.first { message in !own.contains(message.message) }?.sentAt
        for (message, next) in zip(both.messages, both.messages.dropFirst()) {
            #expect(message.sentAt <= next.sentAt)
            guard let first, message.sentAt == next.sentAt, message.sentAt >= first else {
                continue
            }
            #expect(message.message < next.message)
        }
        #expect(
            zip(both.messages, both.messages.dropFirst()).allSatisfy { $0.position < $1.position })
        #expect(
            both.messages.allSatisfy { message in
                message.position <= both.conversation.lastPosition
            })
        let (mine, theirs, ours) = (left.meaning, right.meaning, both.meaning)
        #expect(Set(ours.messages) == Set(mine.messages).union(theirs.messages))
        for (user, view) in ours.views {
            let known = [mine, theirs].compactMap { meaning in meaning.views[user] }
            for message in ours.messages {
                let statuses = known.compactMap { view in view.statuses[message] }
                #expect(view.statuses[message] == statuses.max())
                let isUnseen = known.contains { view in view.unseen.contains(message) }
                #expect(view.unseen.contains(message) == isUnseen)
            }
        }
    }

    @Test(arguments: 0..<500)
    func `X1.3: each position has its new one, and the winner's keep their messages`(
        case number: UInt64
    ) throws {
        var random = SeededGenerator(number)
        let (left, right) = (random.copy(1), random.copy(2))
        let (both, relocations) = left.joining(right)
        for copy in [left, right] {
            let own = relocations.filter { $0.conversation == copy.conversation.id }
            for message in copy.messages {
                let number = message.position.number
                let now = IntervalSet(number...number).relocated(by: own)
                let found = try #require(both.messages.first { $0.message == message.message })
                #expect(now == IntervalSet(found.position.number...found.position.number))
                guard copy.conversation.id == both.conversation.id else { continue }
                #expect(found.position == message.position)
            }
        }
        let winner = both.conversation.id == left.conversation.id ? left : right
        let sorted = left.merging(right, sortingAtMost: 2)
        for message in winner.messages {
            let found = try #require(sorted.messages.first { $0.message == message.message })
            #expect(
                found.position == message.position
                    || found.position > winner.conversation.lastPosition)
        }
    }

    @Test func `X1.1: the earlier one wins, then the smaller id`() {
        let early = SortedCopy.sample(2, [], last: 0, createdAt: 1).conversation
        let late = SortedCopy.sample(1, [], last: 0, createdAt: 2).conversation
        let smaller = SortedCopy.sample(1, [], last: 0, createdAt: 1, aliases: [.sample(7)])
            .conversation
        #expect(late.merging(early).copy.id == early.id)
        let tie = early.merging(smaller).copy
        #expect(tie.id == smaller.id)
        #expect(tie.aliases == [early.id, .sample(7)])
    }

    @Test func `X1.3: later messages of the other conversation keep the winner's positions`() {
        let old = SortedCopy.sample(1, [(1, 10), (2, 20), (4, 30)], last: 5)
        let new = SortedCopy.sample(2, [(1, 40), (3, 50)], last: 3)
        let (both, relocations) = old.joining(new)
        #expect(both.messages.map(\.position.number) == [1, 2, 4, 6, 8])
        #expect(
            relocations == [
                Relocation(
                    conversation: old.conversation.id, from: Position(1), through: Position(4),
                    to: Position(1)),
                Relocation(
                    conversation: new.conversation.id, from: Position(1), through: Position(3),
                    to: Position(6)),
            ])
        #expect(both.conversation.lastPosition == Position(8))
        #expect(old.merging(new, sortingAtMost: 1).messages == both.messages)
    }

    @Test func `R16: deleted messages stay hidden, singly if others come between them`() {
        let view = MergeableView(state: .cleared, clearedTo: Position(2))
        let old = SortedCopy.sample(1, [(1, 10), (2, 30)], last: 2, views: [.ana: view])
        let new = SortedCopy.sample(
            2, [(1, 20), (2, 40)], last: 2, views: [.ana: MergeableView(state: .shown)])
        for limit in [1, 1024] {
            let both = old.merging(new, sortingAtMost: limit)
            #expect(
                both.messages.map(\.message) == [
                    .sample(101), .sample(201), .sample(102), .sample(202),
                ])
            let hidden = both.messages[2].position.number
            #expect(both.conversation.views[.ana]?.hidden == IntervalSet(hidden...hidden))
            #expect(both.conversation.views[.ana]?.clearedTo == Position(1))
        }
    }
}

/// A conversation with its messages, as a store has them.
private struct SortedCopy: Equatable {
    var conversation: MergeableConversation
    /// In the order of their positions.
    var messages: [MessageSort.Entry]

    /// The plan that brings the messages into order.
    var sort: MessageSort? {
        MessageSort(
            of: messages, in: conversation.id, unsortedFrom: conversation.unsortedFrom,
            isUnused: { _ in true })
    }

    /// Merges two conversations without sorting their messages.
    func joining(_ other: SortedCopy) -> (copy: SortedCopy, relocations: [Relocation]) {
        let (merged, relocations) = conversation.merging(other.conversation)
        let messages = [self, other].flatMap { copy in
            copy.messages.map { $0.relocated(by: relocations, from: copy.conversation.id) }
        }
        return (SortedCopy(conversation: merged, messages: messages.byPosition), relocations)
    }

    func merging(_ other: SortedCopy, sortingAtMost limit: Int) -> SortedCopy {
        var copy = joining(other).copy
        guard var sort = copy.sort else { return copy }
        repeat { copy.take(&sort, atMost: limit) } while !sort.isEmpty
        return copy
    }

    @discardableResult
    mutating func take(_ sort: inout MessageSort, atMost limit: Int) -> MessageSort.Step {
        let step = sort.next(atMost: limit, after: conversation.lastPosition)
        messages =
            messages.map { $0.relocated(by: step.relocations, from: conversation.id) }.byPosition
        conversation = conversation.sorted(by: step)
        return step
    }

    mutating func send(_ message: Message.ID, at time: Int64) {
        let position = conversation.lastPosition.next
        messages.append(
            MessageSort.Entry(
                message, sentAt: Timestamp(milliseconds: time), position: position))
        conversation = MergeableConversation(
            id: conversation.id, createdAt: conversation.createdAt, aliases: conversation.aliases,
            metadata: conversation.metadata, isAnnounced: conversation.isAnnounced,
            lastPosition: position, occupied: conversation.occupied,
            firstSentAt: conversation.firstSentAt, unsortedFrom: conversation.unsortedFrom,
            views: conversation.views)
    }
}

extension MessageSort.Entry {
    fileprivate func relocated(
        by relocations: [Relocation], from conversation: Conversation.ID
    ) -> MessageSort.Entry {
        let moved = IntervalSet(position.number...position.number)
            .relocated(by: relocations.filter { $0.conversation == conversation })
        return MessageSort.Entry(
            message, sentAt: sentAt, position: Position(moved.intervals[0].lowerBound))
    }
}

extension [MessageSort.Entry] {
    fileprivate var byPosition: [MessageSort.Entry] {
        sorted { left, right in left.position < right.position }
    }
}

extension SortedCopy {
    /// What the API shows: all but internal positions.
    fileprivate struct VisibleContent: Equatable {
        struct View: Equatable {
            let state: ViewState
            let statuses: [Message.ID: RecipientStatus]
            let unseen: Set<Message.ID>
        }

        let id: Conversation.ID
        let createdAt: Timestamp
        let aliases: Set<Conversation.ID>
        let metadata: Metadata
        let isAnnounced: Bool
        var messages: [Message.ID]
        let views: [UserID: View]

        func isEqualInAnyOrder(to other: VisibleContent) -> Bool {
            var (left, right) = (self, other)
            left.messages.sort()
            right.messages.sort()
            return left == right
        }
    }

    fileprivate var meaning: VisibleContent {
        VisibleContent(
            id: conversation.id, createdAt: conversation.createdAt, aliases: conversation.aliases,
            metadata: conversation.metadata, isAnnounced: conversation.isAnnounced,
            messages: messages.map(\.message),
            views: conversation.views.mapValues { view in
                VisibleContent.View(
                    state: view.state,
                    statuses: Dictionary(
                        uniqueKeysWithValues: messages.map { message in
                            (message.message, view.receipts.status(at: message.position))
                        }),
                    unseen: Set(
                        messages.filter { message in
                            message.position <= view.clearedTo
                                || view.hidden.contains(message.position.number)
                        }.map(\.message)))
            })
    }

    /// Messages with positions and times; each id contains the original position.
    fileprivate static func sample(
        _ number: UInt128, _ messages: [(position: Int64, sentAt: Int64)], last: Int64,
        createdAt: Int64? = nil, aliases: Set<Conversation.ID> = [],
        views: [UserID: MergeableView] = [:]
    ) -> SortedCopy {
        SortedCopy(
            id: .sample(number), createdAt: createdAt ?? Int64(number), aliases: aliases,
            metadata: Metadata(), isAnnounced: true, last: last,
            messages: messages.map { position, sentAt in
                MessageSort.Entry(
                    .sample(number * 100 + UInt128(position)),
                    sentAt: Timestamp(milliseconds: sentAt), position: Position(position))
            }, views: views)
    }

    fileprivate init(
        id: Conversation.ID, createdAt: Int64, aliases: Set<Conversation.ID>, metadata: Metadata,
        isAnnounced: Bool, last: Int64, messages: [MessageSort.Entry],
        views: [UserID: MergeableView]
    ) {
        self.init(
            conversation: MergeableConversation(
                id: id, createdAt: Timestamp(milliseconds: createdAt), aliases: aliases,
                metadata: metadata, isAnnounced: isAnnounced, lastPosition: Position(last),
                occupied: messages.isEmpty
                    ? IntervalSet()
                    : IntervalSet(
                        messages[0].position.number...messages[messages.count - 1].position.number),
                firstSentAt: messages.map(\.sentAt).min(), unsortedFrom: nil, views: views),
            messages: messages)
    }
}

extension SeededGenerator {
    /// A conversation of ana and bo, whose messages no conversation of another number has.
    fileprivate mutating func copy(_ number: UInt128) -> SortedCopy {
        var position: Int64 = 0
        // Mostly in the order of time; a shuffled one is like an import.
        var pool = Array(0..<12)
        if once(in: 4) { pool.shuffle(using: &self) }
        let messages = pool.filter { _ in once(in: 2) }.map { message in
            position += Int64(self.number(1...2))
            return MessageSort.Entry(
                .sample(UInt128((message * 7) % 12) * 10 + number),
                sentAt: Timestamp(milliseconds: Int64(message / 2)),
                position: Position(position))
        }
        let last = position + Int64(self.number(0...2))
        let users = [UserID.ana, .bo].map { user in (user, view(upTo: last)) }
        return SortedCopy(
            id: .sample(number), createdAt: Int64(self.number(0...2)),
            aliases: Set(list(0...2) { random in .sample(UInt128(random.number(50...55))) }),
            metadata: metadata(), isAnnounced: once(in: 2), last: last, messages: messages,
            views: Dictionary(uniqueKeysWithValues: users))
    }

    private mutating func view(upTo last: Int64) -> MergeableView {
        let cleared = once(in: 3) ? Int64(number(0...Int(last))) : 0
        let (delivered, read) = (intervals(), intervals())
        return MergeableView(
            state: one(of: [.shown, .cleared, .unseen]), clearedTo: Position(cleared),
            hidden: once(in: 2) ? intervals() : IntervalSet(),
            receipts: Receipts(delivered: delivered, read: read))
    }
}
