import Messaging
import TestSupport
import Testing

@testable import MessagingStore

/// Random actions of a few users in a few conversations, compared with a simple model of their views.
@Suite struct `Views beside a model` {
    @Test(arguments: TestRounds.seeds(2, of: 6))
    func `the store agrees with the model, and a replay makes the same rows (A, C, E, G)`(
        seed: UInt64
    ) async throws {
        var results: [[String]] = []
        // With the smaller limit, changes of participants make conversations wide and narrow again.
        for limit in [100, 3, 1] {
            var run = try await ModelRun(seed: seed, wideAbove: limit)
            for step in 1...600 {
                try await run.step()
                try await run.compareOne(step)
                if step.isMultiple(of: 60) { try await run.compareAll(step) }
            }
            try await run.compareAll(600)
            try await run.replay()
            results.append(run.counts)
        }
        // Badges and followed users are the same for any limit of wide conversations (rulings 38, 39).
        #expect(results[1] == results[0], "seed \(seed)")
        #expect(results[2] == results[0], "seed \(seed)")
    }
}

/// The store and the model, with the same random actions applied to both.
struct ModelRun {
    let sample: SampleApplication
    var model = ViewModel()
    var random: SeededGenerator
    let seed: UInt64
    /// The number of participants above which a conversation is wide.
    let limit: Int
    /// Badges and followed users after some of the steps.
    private(set) var counts: [String] = []
    let users: [UserID] = ["ana", "bo", "cy", "dee", "ed"].map(UserID.named)

    init(seed: UInt64, wideAbove limit: Int) async throws {
        self.seed = seed
        self.limit = limit
        random = SeededGenerator(seed)
        var limits = MessagingLimits()
        limits.wideConversation = limit
        sample = try await SampleApplication(limits: limits)
        for user in users {
            try await sample.store.replaceIdentity(Identity(userID: user), in: sample.application)
        }
    }

    var store: MessagingStore { sample.store }
    var application: Application.ID { sample.application }

    mutating func user() -> UserID { users[random.number(0...users.count - 1)] }

    /// The index of a recent conversation, so that there are many and each has many actions.
    mutating func conversationIndex() -> Int? {
        model.conversations.isEmpty
            ? nil
            : random.number(max(0, model.conversations.count - 6)...model.conversations.count - 1)
    }

    mutating func message(in index: Int) -> Int? {
        let sent = model.conversations[index].sent
        return sent.isEmpty ? nil : random.number(max(0, sent.count - 12)...sent.count - 1)
    }

    mutating func step() async throws {
        if random.once(in: 2) { sample.wait(milliseconds: Int64(random.number(0...2))) }
        switch random.number(1...100) {
        case 1...10: try await create()
        case 11...50: try await send()
        case 51...60: try await changeParticipants()
        case 61...64: try await setTopic()
        case 65...70: try await deleteConversation()
        case 71...78: try await deleteMessage()
        case 79...86: try await readOne()
        case 87...92: try await readAll()
        case 93...95: try await follow()
        default: try await block()
        }
    }

    /// Performs an action, and compares its result with the expected rejection.
    func expect(_ refusal: Rejection?, _ act: () async throws -> Void) async -> Bool {
        do {
            try await act()
            #expect(refusal == nil, "seed \(seed)")
        } catch let rejection as Rejection {
            #expect(rejection == refusal, "seed \(seed)")
        } catch {
            Issue.record(error)
        }
        return refusal == nil
    }

    func replay(except tables: Set<String> = []) async throws {
        try await sample.expectSameRowsAgain(except: tables, "seed \(seed)")
    }
}

// Comparing the views.
extension ModelRun {
    mutating func compareOne(_ step: Int) async throws {
        guard let index = conversationIndex() else { return }
        try await compare(model.conversations[index], seenBy: user(), step)
    }

    mutating func compareAll(_ step: Int) async throws {
        for user in users {
            let badge = try await store.badge(of: user, in: application)
            let page = try await store.following(of: user, limit: 3, in: application)
            let rest = try await store.following(
                of: user, after: page.items.last, limit: 10, in: application)
            let followed = (page.items + rest.items).map(\.text)
            #expect(page.total == Int64(followed.count), "seed \(seed), step \(step)")
            for other in users {
                #expect(
                    try await store.isFollowing(other, by: user, in: application)
                        == followed.contains(other.text), "seed \(seed), step \(step)")
            }
            counts.append(
                "\(step) \(user.text) \(badge.unreadConversationCount) \(badge.unreadMessageCount) \(followed)"
            )
            for conversation in model.conversations {
                try await compare(conversation, seenBy: user, step)
            }
            try await compareList(of: user, .createdAt, step) { conversation in
                conversation.createdAt
            }
            try await compareList(of: user, .lastMessage, step) { conversation in
                model.messages(in: conversation, seenBy: user).last?.at ?? conversation.createdAt
            }
        }
    }

    private func compareList(
        of user: UserID, _ order: ConversationOrder, _ step: Int,
        _ time: (ViewModel.ConversationModel) -> Timestamp
    ) async throws {
        let expected = model.list(of: user, time).map(\.id)
        var listed: [Conversation.ID] = []
        while true {
            let page = try await store.conversations(
                of: user, sortedBy: order, after: listed.last, limit: 7, in: application)
            #expect(page.total == Int64(expected.count), "seed \(seed), step \(step)")
            guard !page.items.isEmpty, listed.count <= expected.count else { break }
            listed += page.items.map(\.id)
        }
        #expect(listed == expected, "seed \(seed), step \(step), \(order)")
    }

    private func compare(
        _ conversation: ViewModel.ConversationModel, seenBy user: UserID, _ step: Int
    ) async throws {
        let comment = Comment(rawValue: "seed \(seed), step \(step), \(user)")
        guard model.refusal(ofReading: user, in: conversation) == nil,
            let own = conversation.views[user]
        else {
            await #expect(throws: Rejection.notFound(.conversation), comment) {
                try await store.conversation(conversation.id, seenBy: user, in: application)
            }
            await #expect(throws: Rejection.notFound(.conversation), comment) {
                try await store.messages(
                    in: conversation.id, seenBy: .user(user), limit: 1, in: application)
            }
            return
        }
        let seen = model.messages(in: conversation, seenBy: user)
        let unread = seen.filter { sent in model.isUnread(sent, to: user, in: conversation) }
        let view = try await store.conversation(conversation.id, seenBy: user, in: application)
        #expect(view.totalCount == Int64(seen.count), comment)
        #expect(view.unreadCount == Int64(unread.count), comment)
        #expect(view.lastMessage?.message.id == seen.last?.id, comment)
        #expect(view.isDistinct == conversation.isDistinct, comment)
        #expect(
            view.participants.map(\.userID)
                == (own.removed == nil ? conversation.participants : []), comment)
        #expect(view.participantCount == view.participants.count, comment)
        let topic = own.removed == nil ? conversation.topic : own.frozenTopic
        #expect(view.metadata == (topic.isEmpty ? .empty : ["topic": .text(topic)]), comment)
        let page = try await store.messages(
            in: conversation.id, seenBy: .user(user), limit: 1000, in: application)
        #expect(page.total == Int64(seen.count), comment)
        #expect(page.items.map(\.message.id) == seen.reversed().map(\.id), comment)
        #expect(
            page.items.filter { item in item.isUnread == true }.map(\.message.id)
                == unread.reversed().map(\.id), comment)
        for (item, sent) in zip(page.items, seen.reversed()) {
            let readers = item.recipients.filter { entry in entry.status == .read }.map(\.userID)
            let author = [sent.sender].compactMap(\.self)
            let expected = sent.readers.union(author).intersection(sent.reached)
            guard conversation.participants.count <= limit else {
                let counts = item.recipientCounts ?? RecipientCounts()
                #expect(item.recipients.isEmpty, comment)
                #expect(counts.read == Int64(expected.count), comment)
                #expect(
                    counts.sent + counts.delivered + counts.read == Int64(sent.reached.count),
                    comment)
                continue
            }
            #expect(item.recipientCounts == nil, comment)
            #expect(Set(readers) == expected, comment)
            #expect(Set(item.recipients.map(\.userID)) == sent.reached, comment)
        }
        for sent in conversation.sent where !model.isVisible(sent, to: user, in: conversation) {
            await #expect(throws: Rejection.notFound(.message), comment) {
                try await store.message(sent.id, in: nil, seenBy: .user(user), in: application)
            }
        }
    }
}
