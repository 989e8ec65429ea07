import Messaging
import Testing

@testable import MessagingStore

@Suite struct `A user's conversations` {
    @Test func `1.10: newest first, paged after an item, counted on every page`() async throws {
        let sample = try await SampleApplication()
        var ids: [Conversation.ID] = []
        for number in 0..<5 {
            // Two were created in the same millisecond, so that the id decides.
            if number != 2 { sample.tick() }
            ids.append(try await sample.conversation())
        }
        let expected = try await ids.asyncMap(sample.read)
            .map(\.conversation)
            .sorted { left, right in (left.createdAt, left.id) > (right.createdAt, right.id) }
            .map(\.id)
        var listed: [Conversation.ID] = []
        var pages = 0
        repeat {
            let page = try await sample.store.conversations(
                of: .ana, after: listed.last, limit: 2, in: sample.application)
            #expect(page.total == 5)
            listed += page.items.map(\.id)
            pages += 1
        } while pages < 4
        #expect(listed == expected)
    }

    @Test func `5.1.3: by last message, an empty one by its creation`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.conversation()
        sample.tick()
        let empty = try await sample.conversation()
        sample.tick()
        let third = try await sample.conversation()
        sample.tick()
        try await sample.send(to: first)
        let all = try await sample.store.conversations(
            of: .ana, sortedBy: .lastMessage, limit: 10, in: sample.application)
        #expect(all.items.map(\.id) == [first, third, empty])
        let rest = try await sample.store.conversations(
            of: .ana, sortedBy: .lastMessage, after: first, limit: 10, in: sample.application)
        #expect(rest.items.map(\.id) == [third, empty])
    }

    @Test func `rulings 17, 19: an unknown user or item is not found`() async throws {
        let sample = try await SampleApplication()
        let others = try await sample.conversation([.bo])
        try await sample.conversation([.ana])
        await #expect(throws: Rejection.notFound(.user)) {
            try await sample.store.conversations(of: .cy, limit: 1, in: sample.application)
        }
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await sample.store.conversations(
                of: .ana, after: others, limit: 1, in: sample.application)
        }
    }

    @Test func `R52: a conversation created by the system is visible to all at once`() async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana, .bo])
        #expect(try await sample.view(of: .ana).id == conversation)
        #expect(try await sample.view(of: .bo).id == conversation)
    }

    @Test func `R12: an added participant sees the history, and none of it is unread`() async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for text in ["1", "2", "3"] { try await sample.send(text, to: conversation) }
        try await sample.patch(conversation, .addParticipant(.cy))
        let view = try await sample.view(of: .cy)
        #expect(view.totalCount == 3)
        #expect(view.unreadCount == 0)
        #expect(view.lastMessage?.isUnread == false)
        #expect(view.lastMessage?.recipients.map(\.userID) == [.ana, .bo])
        try await sample.send("4", to: conversation)
        #expect(try await sample.view(of: .cy).unreadCount == 1)
        #expect(try await sample.view(of: .bo).unreadCount == 4)
        #expect(try await sample.view(of: .ana).unreadCount == 0)
    }

    @Test func `R13, R14: a removed participant keeps their view`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation(metadata: ["topic": "rent"])
        try await sample.send("seen", to: conversation)
        try await sample.patch(
            conversation, .removeParticipant(.bo), .setMetadata(path: ["topic"], "bo"))
        try await sample.send("unseen", to: conversation)
        let view = try await sample.view(of: .bo)
        #expect(view.isFormer)
        #expect(view.participants.isEmpty)
        #expect(view.metadata == ["topic": "rent"])
        #expect(view.lastMessage?.text == "seen")
        #expect(view.totalCount == 1)
        #expect(view.unreadCount == 1)
        #expect(try await sample.view(of: .ana).metadata == ["topic": "bo"])
    }

    @Test func `R13: a removed participant sees edits of their messages, but nothing new`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let message = try await sample.send("seen", to: conversation).object.message.id
        try await sample.patch(conversation, .removeParticipant(.bo))
        let late = try await sample.send("late", to: conversation).object.message.id
        let part = try MessagePart.Draft(mimeType: "text/plain", body: .inline(Array("new".utf8)))
        try await sample.store.changeParts(
            .replace(.index(0), part), of: message, in: conversation, by: .system,
            in: sample.application)
        #expect(try await sample.view(of: .bo).lastMessage?.text == "new")
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.message(
                late, in: nil, seenBy: .user(.bo), in: sample.application)
        }
        await #expect(throws: Rejection.accessDenied) {
            try await sample.store.changeParts(
                .replace(.index(0), part), of: message, in: nil, by: .user(.bo),
                in: sample.application)
        }
    }

    @Test func `R15: a participant who is added again sees everything`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.patch(conversation, .removeParticipant(.bo))
        try await sample.send("meanwhile", to: conversation)
        try await sample.patch(conversation, .addParticipant(.bo))
        let view = try await sample.view(of: .bo)
        #expect(view.participants.map(\.userID) == [.ana, .bo])
        #expect(view.lastMessage?.text == "meanwhile")
        #expect(view.lastMessage?.recipients.map(\.userID) == [.ana])
        #expect(view.totalCount == 1)
        #expect(view.unreadCount == 0)
        let total = try await sample.store.conversations(of: .bo, limit: 1, in: sample.application)
            .total
        #expect(total == 1)
    }

    @Test func `R27, R29: deleting the last message shows the previous one and lowers counts`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.send("first", to: conversation)
        let last = try await sample.send("last", to: conversation).object.message.id
        try await sample.store.deleteMessage(last, in: nil, in: sample.application)
        let view = try await sample.view(of: .bo)
        #expect(view.lastMessage?.text == "first")
        #expect(view.totalCount == 1)
        #expect(view.unreadCount == 1)
    }

    @Test func `views have the names of all users of a conversation`() async throws {
        let sample = try await SampleApplication()
        let ana = Identity(userID: .ana, displayName: "Ana", avatarURL: "https://a.example/a.png")
        try await sample.store.replaceIdentity(ana, in: sample.application)
        let conversation = try await sample.conversation()
        try await sample.send(to: conversation)
        let view = try await sample.view(of: .bo)
        #expect(view.participants == [ana.basic, BasicIdentity(userID: .bo)])
        #expect(view.lastMessage?.sender == ana.basic)
    }
}

extension Array {
    fileprivate func asyncMap<Other>(
        _ transform: (Element) async throws -> Other
    ) async rethrows -> [Other] {
        var others: [Other] = []
        for element in self { others.append(try await transform(element)) }
        return others
    }
}
