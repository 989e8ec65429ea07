import Messaging
import TestSupport
import Testing

@Suite struct `Merging conversations` {
    @Test(arguments: 0..<500) func `X1.1: the order of two conversations does not matter`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let (left, right) = (random.copy(1), random.copy(2))
        #expect(left.merging(right).copy == left.merging(right).copy)
        #expect(left.merging(right).copy.meaning == right.merging(left).copy.meaning)
    }

    @Test(arguments: 0..<500) func `X1.1: the grouping of three conversations does not matter`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let (one, two, three) = (random.copy(1), random.copy(2), random.copy(3))
        let left = one.merging(two).copy.merging(three).copy
        let right = one.merging(two.merging(three).copy).copy
        #expect(left.meaning == right.meaning)
    }

    @Test(arguments: 0..<500) func `X1.1: merging again changes nothing`(case number: UInt64) {
        var random = SeededGenerator(number)
        let (left, right) = (random.copy(1), random.copy(2))
        let both = left.merging(right).copy
        #expect(left.merging(left).copy == left.inOrder.copy)
        #expect(both.merging(right).copy.meaning == both.meaning)
        #expect(left.merging(both).copy.meaning == both.meaning)
        #expect(both.inOrder.copy == both)
    }

    @Test(arguments: 0..<500)
    func `X1.3: messages are ordered by time and id, and their statuses are kept`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let (left, right) = (random.copy(1), random.copy(2))
        let both = left.merging(right).copy
        // Within one millisecond ordered by id, unless the winner had both before the other's first.
        let winner = both.id == left.id ? left : right
        let own = Set(winner.messages.map(\.message))
        let first = both.messages.first { message in !own.contains(message.message) }?.sentAt
        for (message, next) in zip(both.messages, both.messages.dropFirst()) {
            #expect(message.sentAt <= next.sentAt)
            guard let first, message.sentAt == next.sentAt, message.sentAt >= first else {
                continue
            }
            #expect(message.message < next.message)
        }
        #expect(
            zip(both.messages, both.messages.dropFirst()).allSatisfy { $0.position < $1.position })
        #expect(both.messages.allSatisfy { message in message.position <= both.lastPosition })
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
        let (both, relocations) = left.merging(right)
        for copy in [left, right] {
            let own = relocations.filter { relocation in relocation.conversation == copy.id }
            for message in copy.messages {
                let number = message.position.number
                let now = IntervalSet(number...number).relocated(by: own)
                let found = try #require(both.messages.first { $0.message == message.message })
                #expect(now == IntervalSet(found.position.number...found.position.number))
                guard copy.id == both.id, found.position != message.position else { continue }
                #expect(found.position > copy.lastPosition)
            }
        }
    }

    @Test func `X1.1: the earlier one wins, then the smaller id`() {
        let early = MergeableConversation(id: .sample(2), createdAt: Timestamp(milliseconds: 1))
        let late = MergeableConversation(id: .sample(1), createdAt: Timestamp(milliseconds: 2))
        let smaller = MergeableConversation(
            id: .sample(1), createdAt: Timestamp(milliseconds: 1), aliases: [.sample(7)])
        #expect(late.merging(early).copy.id == early.id)
        let tie = early.merging(smaller).copy
        #expect(tie.id == smaller.id)
        #expect(tie.aliases == [early.id, .sample(7)])
    }

    @Test func `X1.3: later messages of the other conversation keep the winner's positions`() {
        let old = MergeableConversation.sample(1, [(1, 10), (2, 20), (4, 30)], last: 5)
        let new = MergeableConversation.sample(2, [(1, 40), (3, 50)], last: 3)
        let (both, relocations) = old.merging(new)
        #expect(both.messages.map(\.position.number) == [1, 2, 4, 6, 8])
        #expect(
            relocations == [
                Relocation(
                    conversation: old.id, from: Position(1), through: Position(4), to: Position(1)),
                Relocation(
                    conversation: new.id, from: Position(1), through: Position(3), to: Position(6)),
            ])
        #expect(both.lastPosition == Position(8))
    }

    @Test func `R16: deleted messages stay hidden, singly if others come between them`() {
        let view = MergeableView(state: .cleared, clearedTo: Position(2))
        let old = MergeableConversation.sample(1, [(1, 10), (2, 30)], last: 2, views: [.ana: view])
        let new = MergeableConversation.sample(
            2, [(1, 20), (2, 40)], last: 2, views: [.ana: MergeableView(state: .shown)])
        let both = old.merging(new).copy
        #expect(both.messages.map(\.position.number) == [1, 3, 4, 5])
        #expect(
            both.views[.ana]
                == MergeableView(
                    state: .shown, clearedTo: Position(1), hidden: IntervalSet(4...4)))
    }
}

extension MergeableConversation {
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
        let messages: [Message.ID]
        let views: [UserID: View]
    }

    fileprivate var meaning: VisibleContent {
        VisibleContent(
            id: id, createdAt: createdAt, aliases: aliases, metadata: metadata,
            isAnnounced: isAnnounced, messages: messages.map(\.message),
            views: views.mapValues { view in
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
        views: [UserID: MergeableView] = [:]
    ) -> MergeableConversation {
        MergeableConversation(
            id: .sample(number), createdAt: Timestamp(milliseconds: Int64(number)),
            lastPosition: Position(last),
            messages: messages.map { position, sentAt in
                PositionedMessage(
                    .sample(number * 100 + UInt128(position)),
                    sentAt: Timestamp(milliseconds: sentAt), position: Position(position))
            }, views: views)
    }
}

extension SeededGenerator {
    /// A conversation of ana and bo that shares some messages with those of other numbers, as after an
    /// earlier merge. A message has the same time in each.
    fileprivate mutating func copy(_ id: UInt128) -> MergeableConversation {
        var position: Int64 = 0
        // Mostly in the order of time; a shuffled one is like an import.
        var pool = Array(0..<12)
        if once(in: 4) { pool.shuffle(using: &self) }
        let messages = pool.filter { _ in once(in: 2) }.map { message in
            position += Int64(number(1...2))
            return MergeableConversation.PositionedMessage(
                .sample(UInt128((message * 7) % 12)),
                sentAt: Timestamp(milliseconds: Int64(message / 2)),
                position: Position(position))
        }
        let last = position + Int64(number(0...2))
        let users = [UserID.ana, .bo].map { user in (user, view(upTo: last)) }
        return MergeableConversation(
            id: .sample(id + UInt128(number(0...1)) * 10),
            createdAt: Timestamp(milliseconds: Int64(number(0...2))),
            aliases: Set(list(0...2) { random in .sample(UInt128(random.number(50...55))) }),
            metadata: metadata(), isAnnounced: once(in: 2), lastPosition: Position(last),
            messages: messages, views: Dictionary(uniqueKeysWithValues: users))
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
