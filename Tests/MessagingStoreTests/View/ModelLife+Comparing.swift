import Messaging
import Testing

@testable import MessagingStore

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
