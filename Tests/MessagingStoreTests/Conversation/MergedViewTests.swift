import Messaging
import TestSupport
import Testing

@testable import MessagingStore

/// Random actions in two distinct conversations of the same users, and what each user sees before and after
/// the merge.
@Suite struct `Merged views` {
    @Test(arguments: TestRounds.seeds(12, of: 40), [100, 2])
    func `X1.3: users see in the winner what they saw in both, also after a replay`(
        seed: UInt64, wideAbove limit: Int
    ) async throws {
        var run = try await MergeRun(seed: seed, wideAbove: limit)
        for _ in 1...60 { try await run.step() }
        let before = try await run.visibleStates()
        let winner = try await run.sample.reconcile(
            run.conversations[1], sortingAtMost: seed % 3 == 0 ? 1024 : Int(seed % 3))
        let after = try await run.visibleState(of: winner)
        for user in run.users {
            let comment: Comment = "seed \(seed), \(user)"
            MergeRun.expect(
                after[user], shows: before.compactMap { states in states[user] }, comment)
            let list = try await run.sample.store.conversations(
                of: user, limit: 10, in: run.sample.application)
            #expect(list.total == Int64(list.items.count), comment)
            #expect(list.items.map(\.id) == (after[user]?.isShown == true ? [winner] : []), comment)
        }
        try await run.sample.expectSameRowsAgain("seed \(seed)")
        for _ in 1...20 { try await run.step() }
        try await run.sample.expectSameRowsAgain("seed \(seed), later")
    }
}

struct MergeRun {
    /// What a user sees of a conversation.
    struct VisibleState: Equatable {
        struct VisibleMessage: Equatable {
            let id: Message.ID
            let sentAt: Timestamp
            let isUnread: Bool?
            let statuses: [UserID: RecipientStatus]

            static func precedes(_ left: VisibleMessage, _ right: VisibleMessage) -> Bool {
                (left.sentAt, left.id) < (right.sentAt, right.id)
            }
        }

        var isShown = false
        /// Oldest first.
        var messages: [VisibleMessage] = []
        var unread: Int64 = 0
        var total: Int64 = 0
        /// Not compared.
        var last: Message.ID?

        static func == (left: VisibleState, right: VisibleState) -> Bool {
            left.isShown == right.isShown && left.messages == right.messages
                && left.unread == right.unread && left.total == right.total
        }

        static func merging(_ visibleStates: [VisibleState]) -> VisibleState {
            let messages = visibleStates.flatMap(\.messages).sorted(by: VisibleMessage.precedes)
            return VisibleState(
                isShown: visibleStates.contains(where: \.isShown), messages: messages,
                unread: visibleStates.reduce(0) { sum, visibleState in sum + visibleState.unread },
                total: visibleStates.reduce(0) { sum, visibleState in sum + visibleState.total })
        }
    }

    /// Expects that a user sees in the only conversation what they saw in both.
    static func expect(
        _ after: VisibleState?, shows before: [VisibleState], _ comment: Comment
    ) {
        var one = after ?? VisibleState()
        let times = one.messages.map(\.sentAt)
        #expect(times == times.sorted(), comment)
        #expect(one.last == one.messages.last?.id, comment)
        // Messages of one millisecond keep their order or are ordered by id.
        one.messages.sort(by: VisibleState.VisibleMessage.precedes)
        #expect(one == .merging(before), comment)
    }

    var sample: SampleApplication
    let users: [UserID] = [.ana, .bo, .cy]
    var conversations: [Conversation.ID] = []
    private var random: SeededGenerator
    private var messages: [Message.ID] = []

    init(seed: UInt64, wideAbove limit: Int = 100) async throws {
        random = SeededGenerator(seed)
        var limits = MessagingLimits()
        limits.wideConversation = limit
        sample = try await SampleApplication(limits: limits)
        for user in users {
            try await sample.store.replaceIdentity(Identity(userID: user), in: sample.application)
        }
        if random.once(in: 2) {
            conversations.append(
                try await sample.create([.bo, .cy], by: .ana, isDistinct: true).object.id)
        } else {
            conversations.append(
                try await sample.create(users, isDistinct: true).object.conversation.id)
        }
        conversations.append(
            try await sample.addDistinctConversation(
                9, users, createdAt: random.once(in: 2) ? 5 : 5_000_000,
                isAnnounced: random.once(in: 2),
                isWide: limits.isWide(users.count) && random.once(in: 2)))
    }

    mutating func step() async throws {
        if random.once(in: 2) { sample.wait(milliseconds: Int64(random.number(0...2))) }
        let (user, conversation) = (random.one(of: users), random.one(of: conversations))
        do {
            switch random.number(1...20) {
            case 1...9: messages.append(try await sample.post(as: user, in: conversation))
            case 10, 11:
                try await sample.store.recordReceipt(
                    random.once(in: 2) ? .read : .delivery, of: message(), by: user,
                    in: sample.application)
            case 12:
                _ = try await sample.store.markAllRead(
                    upTo: nil, by: user, in: conversation, in: sample.application)
            case 13...15:
                try await sample.store.deleteMessage(
                    message(), forAll: random.once(in: 3), by: user, in: sample.application)
            case 16: try await sample.delete(conversation, .forMe, by: user)
            case 17: try await sample.block(random.one(of: users), by: user)
            case 18:
                try await sample.store.patchUser(user, [.setBlocks([])], in: sample.application)
            default:
                messages.append(try await sample.send(by: user, to: conversation).object.message.id)
            }
        } catch is Rejection {
            // A rejected action changes nothing.
        }
    }

    private mutating func message() -> Message.ID {
        messages.isEmpty ? .sample(1) : random.one(of: messages)
    }

    func visibleStates() async throws -> [[UserID: VisibleState]] {
        var all: [[UserID: VisibleState]] = []
        for conversation in conversations { all.append(try await visibleState(of: conversation)) }
        return all
    }

    /// - Parameter other: The application that has the conversation; `nil` for the one of the actions.
    func visibleState(
        of conversation: Conversation.ID, in other: SampleApplication? = nil
    ) async throws -> [UserID: VisibleState] {
        let sample = other ?? self.sample
        var visibleStates: [UserID: VisibleState] = [:]
        for user in users {
            guard try await sample.sees(conversation, user) else {
                visibleStates[user] = VisibleState()
                continue
            }
            let view = try await sample.view(of: conversation, for: user)
            visibleStates[user] = VisibleState(
                isShown: true,
                messages: try await sample.seen(conversation, by: user).reversed().map { item in
                    VisibleState.VisibleMessage(
                        id: item.message.id, sentAt: item.message.sentAt, isUnread: item.isUnread,
                        statuses: Dictionary(
                            uniqueKeysWithValues: shown(item).map { entry in
                                (entry.userID, entry.status)
                            }))
                }, unread: view.unreadCount, total: view.totalCount,
                last: view.lastMessage?.message.id)
        }
        return visibleStates
    }

    /// The recipients that are compared: none if one of the conversations may count them instead.
    private func shown(_ item: MessageSnapshot) -> [MessageSnapshot.Recipient] {
        sample.store.limits.isWide(users.count) ? [] : item.recipients
    }
}
