import Messaging
import TestSupport
import Testing

@testable import MessagingStore

/// Random lives of a few users in a few conversations, beside the plain model of what each sees.
@Suite struct `Views beside a model` {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `lists, counts, messages and refusals agree, and the log makes the same rows (A, C, E, G)`(
        seed: UInt64
    ) async throws {
        var life = try await ModelLife(seed: seed)
        for step in 1...600 {
            try await life.step()
            try await life.compareOne(step)
            if step.isMultiple(of: 60) { try await life.compareAll(step) }
        }
        try await life.compareAll(600)
        try await life.replay()
    }
}

/// The store and the model, with the same random actions applied to both.
struct ModelLife {
    let sample: SampleApplication
    var model = ViewModel()
    var dice: SeededGenerator
    let seed: UInt64
    let users: [UserID] = ["ana", "bo", "cy", "dee", "ed"].map(UserID.named)

    init(seed: UInt64) async throws {
        self.seed = seed
        dice = SeededGenerator(seed)
        sample = try await SampleApplication()
        for user in users {
            try await sample.store.replaceIdentity(Identity(userID: user), in: sample.application)
        }
    }

    var store: MessagingStore { sample.store }
    var application: Application.ID { sample.application }

    mutating func user() -> UserID { users[dice.number(0...users.count - 1)] }

    /// Mostly a young conversation, so that some live long and many are met.
    mutating func talk() -> Int? {
        model.talks.isEmpty
            ? nil : dice.number(max(0, model.talks.count - 6)...model.talks.count - 1)
    }

    mutating func message(in index: Int) -> Int? {
        let sent = model.talks[index].sent
        return sent.isEmpty ? nil : dice.number(max(0, sent.count - 12)...sent.count - 1)
    }

    mutating func step() async throws {
        if dice.once(in: 2) { sample.wait(milliseconds: Int64(dice.number(0...2))) }
        switch dice.number(1...100) {
        case 1...10: try await create()
        case 11...50: try await send()
        case 51...60: try await changeParticipants()
        case 61...64: try await setTopic()
        case 65...70: try await deleteTalk()
        case 71...78: try await deleteMessage()
        case 79...86: try await readOne()
        case 87...94: try await readAll()
        default: try await block()
        }
    }

    /// Does it, and holds what came of it against what must.
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

    func replay() async throws {
        try await sample.expectSameRowsAgain("seed \(seed)")
    }
}

// What is seen of it.
extension ModelLife {
    mutating func compareOne(_ step: Int) async throws {
        guard let index = talk() else { return }
        try await compare(model.talks[index], seenBy: user(), step)
    }

    func compareAll(_ step: Int) async throws {
        for user in users {
            for talk in model.talks { try await compare(talk, seenBy: user, step) }
            try await compareList(of: user, .createdAt, step) { talk in talk.createdAt }
            try await compareList(of: user, .lastMessage, step) { talk in
                model.messages(in: talk, seenBy: user).last?.at ?? talk.createdAt
            }
        }
    }

    private func compareList(
        of user: UserID, _ order: ConversationOrder, _ step: Int,
        _ time: (ViewModel.Talk) -> Timestamp
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
        _ talk: ViewModel.Talk, seenBy user: UserID, _ step: Int
    ) async throws {
        let place = Comment(rawValue: "seed \(seed), step \(step), \(user)")
        guard model.refusal(ofReading: user, in: talk) == nil, let own = talk.views[user] else {
            await #expect(throws: Rejection.notFound(.conversation), place) {
                try await store.conversation(talk.id, seenBy: user, in: application)
            }
            await #expect(throws: Rejection.notFound(.conversation), place) {
                try await store.messages(in: talk.id, seenBy: user, limit: 1, in: application)
            }
            return
        }
        let seen = model.messages(in: talk, seenBy: user)
        let unread = seen.filter { sent in model.isUnread(sent, to: user, in: talk) }
        let view = try await store.conversation(talk.id, seenBy: user, in: application)
        #expect(view.totalCount == Int64(seen.count), place)
        #expect(view.unreadCount == Int64(unread.count), place)
        #expect(view.lastMessage?.message.id == seen.last?.id, place)
        #expect(view.isDistinct == talk.isDistinct, place)
        #expect(
            view.participants.map(\.userID) == (own.removed == nil ? talk.participants : []), place)
        let topic = own.removed == nil ? talk.topic : own.frozenTopic
        #expect(view.metadata == (topic.isEmpty ? .empty : ["topic": .text(topic)]), place)
        let page = try await store.messages(
            in: talk.id, seenBy: user, limit: 1000, in: application)
        #expect(page.total == Int64(seen.count), place)
        #expect(page.items.map(\.message.id) == seen.reversed().map(\.id), place)
        #expect(
            page.items.filter { item in item.isUnread == true }.map(\.message.id)
                == unread.reversed().map(\.id), place)
        for (item, sent) in zip(page.items, seen.reversed()) {
            let readers = item.recipients.filter { entry in entry.status == .read }.map(\.userID)
            let author = [sent.sender].compactMap(\.self)
            #expect(Set(readers) == sent.readers.union(author).intersection(sent.reached), place)
            #expect(Set(item.recipients.map(\.userID)) == sent.reached, place)
        }
        for sent in talk.sent where !model.isVisible(sent, to: user, in: talk) {
            await #expect(throws: Rejection.notFound(.message), place) {
                try await store.message(sent.id, seenBy: user, in: application)
            }
        }
    }
}
