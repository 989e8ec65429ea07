import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `A content of messages of several conversations` {
    /// A content of a conversation that Ana has attached in another one too.
    private struct Shared {
        let sample: SampleApplication
        let (home, other): (Conversation.ID, Conversation.ID)
        let content: Content.ID
        let (first, second): (Message.ID, Message.ID)

        init(_ sample: SampleApplication) async throws {
            self.sample = sample
            home = try await sample.conversation([.ana, .bo])
            other = try await sample.conversation([.ana, .cy])
            content = try await sample.upload(to: home).id
            first = try await sample.attach(content, to: home).message.id
            second = try await sample.attach(content, to: other, by: .ana)
        }

        func delete(_ message: Message.ID) async throws {
            try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        }

        func delete(_ conversation: Conversation.ID) async throws {
            try await sample.store.deleteConversation(conversation, in: sample.application)
        }
    }

    @Test func `ruling 47: is kept as long as any message uses it`() async throws {
        for isHomeFirst in [true, false] {
            let shared = try await Shared(try await SampleApplication())
            let order = [shared.first, shared.second]
            try await shared.delete(isHomeFirst ? order[0] : order[1])
            #expect(try await shared.sample.dropped() == [])
            #expect(try await shared.sample.contentBytes() == 5)
            try await shared.delete(isHomeFirst ? order[1] : order[0])
            #expect(try await shared.sample.dropped() == [shared.content])
            #expect(try await shared.sample.contentBytes() == 0)
            try await shared.sample.expectSameRowsAgain()
        }
    }

    @Test func `ruling 47: outlives the conversation that it belongs to`() async throws {
        let shared = try await Shared(try await SampleApplication())
        let sample = shared.sample
        try await shared.delete(shared.home)
        #expect(try await sample.dropped() == [])
        #expect(try await sample.contentBytes() == 5)
        let content = try await sample.store.content(
            shared.content, seenBy: .cy, in: sample.application)
        #expect(content.conversation == shared.other)
        await #expect(throws: Rejection.notFound(.content)) {
            try await sample.store.content(shared.content, seenBy: .bo, in: sample.application)
        }
        try await shared.delete(shared.other)
        #expect(try await sample.dropped() == [shared.content])
        #expect(try await sample.contentBytes() == 0)
        try await sample.expectSameRowsAgain()
    }

    @Test func `ruling 47: is released with another conversation that uses it`() async throws {
        let shared = try await Shared(try await SampleApplication())
        try await shared.delete(shared.other)
        #expect(try await shared.sample.dropped() == [])
        try await shared.delete(shared.first)
        #expect(try await shared.sample.dropped() == [shared.content])
        try await shared.sample.expectSameRowsAgain()
    }

    @Test func `ruling 47: is found in each of the conversations, by those who see a message`()
        async throws
    {
        let shared = try await Shared(try await SampleApplication())
        let sample = shared.sample
        for conversation in [shared.home, shared.other] {
            #expect(
                try await sample.store.content(
                    shared.content, in: conversation, in: sample.application
                ).id == shared.content)
        }
        for user in [UserID.ana, .bo, .cy] {
            #expect(
                try await sample.store.content(
                    shared.content, seenBy: user, in: sample.application
                ).id == shared.content)
        }
    }

    @Test func `ruling 47: is not attached by a user that may not read it`() async throws {
        let sample = try await SampleApplication()
        let home = try await sample.conversation([.ana, .bo])
        let other = try await sample.conversation([.ana, .cy])
        let content = try await sample.upload(to: home).id
        try await sample.attach(content, to: home)
        await #expect(throws: Rejection.invalid("parts.content", .partContentUnknown)) {
            try await sample.attach(content, to: other, by: .cy)
        }
    }

    @Test(arguments: [true, false])
    func `ruling 47, X1: stays with a merged conversation and those that use it`(
        isHome: Bool
    ) async throws {
        let here = try await SampleApplication()
        let there = try await SampleApplication(opening: here.application)
        there.wait(milliseconds: 1)
        let winner = try await here.create(isDistinct: true).object.conversation.id
        let loser = try await there.create(isDistinct: true).object.conversation.id
        let other = try await there.conversation([.ana, .cy])
        let content = try await there.upload(to: isHome ? loser : other).id
        let first = try await there.attach(content, to: isHome ? loser : other).message.id
        let second = try await there.attach(content, to: isHome ? other : loser, by: .ana)
        try await here.importLines(try await there.exportedLines())
        for conversation in [winner, other] {
            #expect(
                try await here.store.content(content, in: conversation, in: here.application).id
                    == content)
        }
        #expect(try await here.sharedUses() == 1)
        try await here.store.deleteConversation(winner, in: here.application)
        #expect(try await here.dropped() == [])
        try await here.store.deleteMessage(isHome ? second : first, in: nil, in: here.application)
        #expect(try await here.dropped() == [content])
        try await here.expectSameRowsAgain()
    }

    @Test func `ruling 47, X10: is imported with all of its uses`() async throws {
        let shared = try await Shared(try await SampleApplication())
        let copy = try await SampleApplication(opening: shared.sample.application, isEmpty: true)
        try await copy.importLines(try await shared.sample.exportedLines())
        #expect(try await copy.exportedLines() == shared.sample.exportedLines())
        #expect(try await copy.sharedUses() == 1)
        try await copy.store.deleteConversation(shared.home, in: copy.application)
        #expect(try await copy.dropped() == [])
        try await copy.store.deleteMessage(shared.second, in: nil, in: copy.application)
        #expect(try await copy.dropped() == [shared.content])
    }
}

extension SampleApplication {
    /// Sends a message of a user that attaches a content.
    fileprivate func attach(
        _ content: Content.ID, to conversation: Conversation.ID, by user: UserID
    ) async throws -> Message.ID {
        try await store.sendMessage(
            Message.Draft(
                sender: .user(user),
                parts: [
                    MessagePart.Draft(mimeType: "image/png", body: .content(content, size: 5))
                ]),
            to: conversation, by: .user(user), in: application
        ).object.message.id
    }

    fileprivate func contentBytes() async throws -> Int64 {
        try await store.contentBytes(in: application)
    }

    /// The number of uses of contents by other conversations than their own.
    fileprivate func sharedUses() async throws -> Int64 {
        try await database.read { [application] transaction in
            try transaction.first(
                """
                /* test */ SELECT CAST(COALESCE(SUM(use_count), 0) AS BIGINT) FROM shared_contents
                WHERE application = \(application.bytes)
                """
            ) { row in try row.int64(0) } ?? 0
        }
    }
}
