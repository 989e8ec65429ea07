import Messaging
import TestSupport
import Testing

@testable import MessagingStore

/// Random lives of two distinct conversations of the same users, and what each saw of them and sees after.
@Suite struct `Merged views` {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `X1.3: users see of the winner what they saw of both, and the log makes the same rows`(
        seed: UInt64
    ) async throws {
        var life = try await MeetingLife(seed: seed)
        for _ in 1...60 { try await life.step() }
        let before = try await life.sights()
        let winner = try await life.sample.settle(life.homes[1])
        let after = try await life.sight(of: winner)
        for user in life.users {
            let comment: Comment = "seed \(seed), \(user)"
            let both = MeetingLife.Sight.merging(before.compactMap { sight in sight[user] })
            var one = after[user] ?? MeetingLife.Sight()
            let times = one.messages.map(\.sentAt)
            #expect(times == times.sorted(), comment)
            #expect(one.last == one.messages.last?.id, comment)
            // Within one millisecond some keep their order and some are ordered by their ids.
            one.messages.sort(by: MeetingLife.Sight.Seen.precedes)
            #expect(one == both, comment)
            let list = try await life.sample.store.conversations(
                of: user, limit: 10, in: life.sample.application)
            #expect(list.total == Int64(list.items.count), comment)
            #expect(list.items.map(\.id) == (after[user]?.isShown == true ? [winner] : []), comment)
        }
        try await life.sample.expectSameRowsAgain("seed \(seed)")
        for _ in 1...20 { try await life.step() }
        try await life.sample.expectSameRowsAgain("seed \(seed), later")
    }
}

private struct MeetingLife {
    /// What a user sees of a conversation.
    struct Sight: Equatable {
        struct Seen: Equatable {
            let id: Message.ID
            let sentAt: Timestamp
            let isUnread: Bool?
            let statuses: [UserID: RecipientStatus]

            static func precedes(_ left: Seen, _ right: Seen) -> Bool {
                (left.sentAt, left.id) < (right.sentAt, right.id)
            }
        }

        var isShown = false
        /// Oldest first.
        var messages: [Seen] = []
        var unread: Int64 = 0
        var total: Int64 = 0
        /// No part of what is the same.
        var last: Message.ID?

        static func == (left: Sight, right: Sight) -> Bool {
            left.isShown == right.isShown && left.messages == right.messages
                && left.unread == right.unread && left.total == right.total
        }

        static func merging(_ sights: [Sight]) -> Sight {
            let messages = sights.flatMap(\.messages).sorted(by: Seen.precedes)
            return Sight(
                isShown: sights.contains(where: \.isShown), messages: messages,
                unread: sights.reduce(0) { sum, sight in sum + sight.unread },
                total: sights.reduce(0) { sum, sight in sum + sight.total })
        }
    }

    let sample: SampleApplication
    let users: [UserID] = [.ana, .bo, .cy]
    var homes: [Conversation.ID] = []
    private var dice: SeededGenerator
    private var messages: [Message.ID] = []

    init(seed: UInt64) async throws {
        dice = SeededGenerator(seed)
        sample = try await SampleApplication()
        for user in users {
            try await sample.store.replaceIdentity(Identity(userID: user), in: sample.application)
        }
        if dice.once(in: 2) {
            homes.append(
                try await sample.create([.bo, .cy], by: .ana, isDistinct: true).object.id)
        } else {
            homes.append(try await sample.create(users, isDistinct: true).object.conversation.id)
        }
        homes.append(
            try await sample.bring(
                9, users, createdAt: dice.once(in: 2) ? 5 : 5_000_000,
                isAnnounced: dice.once(in: 2)))
    }

    mutating func step() async throws {
        if dice.once(in: 2) { sample.wait(milliseconds: Int64(dice.number(0...2))) }
        let (user, home) = (dice.one(of: users), dice.one(of: homes))
        do {
            switch dice.number(1...20) {
            case 1...9: messages.append(try await sample.say(as: user, in: home))
            case 10, 11:
                try await sample.store.recordReceipt(
                    dice.once(in: 2) ? .read : .delivery, of: message(), by: user,
                    in: sample.application)
            case 12:
                _ = try await sample.store.markAllRead(
                    upTo: nil, by: user, in: home, in: sample.application)
            case 13...15:
                try await sample.store.deleteMessage(
                    message(), forAll: dice.once(in: 3), by: user, in: sample.application)
            case 16: try await sample.delete(home, .forMe, by: user)
            case 17: try await sample.block(dice.one(of: users), by: user)
            case 18:
                try await sample.store.patchUser(user, [.setBlocks([])], in: sample.application)
            default: messages.append(try await sample.send(by: user, to: home).object.message.id)
            }
        } catch is Rejection {
            // A rejected action changes nothing.
        }
    }

    private mutating func message() -> Message.ID {
        messages.isEmpty ? .sample(1) : dice.one(of: messages)
    }

    func sights() async throws -> [[UserID: Sight]] {
        var all: [[UserID: Sight]] = []
        for home in homes { all.append(try await sight(of: home)) }
        return all
    }

    func sight(of home: Conversation.ID) async throws -> [UserID: Sight] {
        var sights: [UserID: Sight] = [:]
        for user in users {
            guard try await sample.sees(home, user) else {
                sights[user] = Sight()
                continue
            }
            let view = try await sample.view(of: home, for: user)
            sights[user] = Sight(
                isShown: true,
                messages: try await sample.seen(home, by: user).reversed().map { item in
                    Sight.Seen(
                        id: item.message.id, sentAt: item.message.sentAt, isUnread: item.isUnread,
                        statuses: Dictionary(
                            uniqueKeysWithValues: item.recipients.map { entry in
                                (entry.userID, entry.status)
                            }))
                }, unread: view.unreadCount, total: view.totalCount,
                last: view.lastMessage?.message.id)
        }
        return sights
    }
}
