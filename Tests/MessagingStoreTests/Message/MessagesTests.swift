import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `Messages` {
    @Test func `R26: positions have no gaps, and times never decrease`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.send(to: conversation)
        sample.wait(milliseconds: -500)
        try await sample.send(to: conversation)
        let messages = try await sample.store.messages(
            in: conversation, limit: 10, in: sample.application
        ).items.map(\.message)
        #expect(messages.map(\.position.number) == [2, 1])
        #expect(messages.first?.sentAt == messages.last?.sentAt)
    }

    @Test func `R26: concurrent messages get different positions`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let positions = try await withThrowingTaskGroup { group in
            for _ in 0..<30 {
                group.addTask { try await sample.send(to: conversation).object.message.position }
            }
            return try await group.reduce(into: []) { positions, position in
                positions.append(position)
            }
        }
        #expect(positions.map(\.number).sorted() == Array(1...30))
    }

    @Test func `1.10: newest first, paged after an item, counted on every page`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for number in 1...5 { try await sample.send("\(number)", to: conversation) }
        var texts: [String] = []
        var last: Message.ID?
        for _ in 0..<4 {
            let page = try await sample.store.messages(
                in: conversation, after: last, limit: 2, in: sample.application)
            #expect(page.total == 5)
            texts += page.items.map(\.text)
            last = page.items.last?.message.id ?? last
        }
        #expect(texts == ["5", "4", "3", "2", "1"])
    }

    @Test func `ruling 17: a page after a deleted or foreign message is not found`() async throws {
        let sample = try await SampleApplication()
        let (here, there) = try await (sample.conversation(), sample.conversation())
        let foreign = try await sample.send(to: there).object.message.id
        let deleted = try await sample.send(to: here).object.message.id
        try await sample.store.deleteMessage(deleted, in: nil, in: sample.application)
        for id in [foreign, deleted] {
            await #expect(throws: Rejection.notFound(.message)) {
                try await sample.store.messages(
                    in: here, after: id, limit: 1, in: sample.application)
            }
        }
    }

    @Test func `R25: parts are returned as sent`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let bodies: [[UInt8]] = [[], [0xFF, 0xFE], Array("hello\0".utf8), Array(0...255)]
        let sent = try await sample.store.sendMessage(
            Message.Draft(
                sender: .user(.ana),
                parts: bodies.map { body in
                    try MessagePart.Draft(mimeType: "Text/X; a=b", body: .inline(body))
                }),
            to: conversation, in: sample.application
        ).object
        #expect(sent.message.parts.map(\.body) == bodies.map(MessagePart.Body.inline))
        #expect(Set(sent.message.parts.map(\.id)).count == bodies.count)
        let read = try await sample.store.message(sent.message.id, in: nil, in: sample.application)
        #expect(read == sent)
    }

    @Test func `R71: the status is read for the sender and sent for all others`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.bo, .ana])
        let sent = try await sample.send(to: conversation).object
        let expected: [MessageSnapshot.Recipient] = [
            .init(userID: .bo, status: .sent), .init(userID: .ana, status: .read),
        ]
        #expect(sent.recipients == expected)
        let read = try await sample.store.message(sent.message.id, in: nil, in: sample.application)
        #expect(read.recipients == expected)
    }

    @Test func `R71: a service and a user who is no participant have no entry`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([.cy])
        let conversation = try await sample.conversation()
        for sender in [Sender.named("Billing"), .user(.cy)] {
            let sent = try await sample.store.sendMessage(
                Message.Draft(
                    sender: sender, admission: .identities, senderProperty: "sender_id",
                    parts: [MessagePart.Draft(mimeType: "a/b", body: .inline([1]))]),
                to: conversation, in: sample.application
            ).object
            #expect(sent.recipients.map(\.userID) == [.ana, .bo])
            #expect(sent.recipients.map(\.status) == [.sent, .sent])
            #expect(sent.sender?.userID == sender.userID)
        }
    }

    @Test func `R28: a rejected message leaves no trace`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let before = try await sample.rows()
        await #expect(throws: Rejection.invalid("sender.user_id", .senderParticipant)) {
            try await sample.send(by: .cy, to: conversation, key: .sample(1))
        }
        await #expect(throws: Rejection.invalid("parts.content", .partContentUnknown)) {
            try await sample.attach(.sample(1), to: conversation)
        }
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await sample.send(to: .sample(1))
        }
        #expect(try await sample.rows() == before)
    }

    @Test func `ruling 12: a key whose message was rejected stays unused`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        await #expect(throws: Rejection.self) {
            try await sample.send(by: .cy, to: conversation, key: .sample(1))
        }
        let sent = try await sample.send(to: conversation, key: .sample(1))
        #expect(sent == .created(sent.object))
    }

    @Test func `R29: a deleted message is gone, and deleting it again finds nothing`() async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let id = try await sample.send("one", to: conversation).object.message.id
        try await sample.send("two", to: conversation)
        try await sample.store.deleteMessage(id, in: conversation, in: sample.application)
        #expect(try await sample.texts(of: conversation) == ["two"])
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.message(id, in: nil, in: sample.application)
        }
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.deleteMessage(id, in: nil, in: sample.application)
        }
        #expect(
            try await sample.send("three", to: conversation).object.message.position.number == 3)
    }

    @Test func `R20: a message is found only in its own conversation`() async throws {
        let sample = try await SampleApplication()
        let (here, there) = try await (sample.conversation(), sample.conversation())
        let id = try await sample.send(to: here).object.message.id
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.message(id, in: there, in: sample.application)
        }
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.deleteMessage(id, in: there, in: sample.application)
        }
    }

    @Test func `R18: messages are deleted with their conversation`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let id = try await sample.send(to: conversation).object.message.id
        try await sample.store.deleteConversation(conversation, in: sample.application)
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.message(id, in: nil, in: sample.application)
        }
        await #expect(throws: Rejection.objectDeleted) {
            try await sample.store.message(id, in: conversation, in: sample.application)
        }
    }

    @Test func `R110: acknowledged messages survive a restart`() async throws {
        let folder = TemporaryFolder()
        let first = try await SampleApplication(at: folder.database)
        let conversation = try await first.conversation(metadata: ["a": "b"])
        let sent = try await first.send(to: conversation).object
        let before = try await first.rows()
        first.database.close()
        let second = try await SampleApplication(at: folder.database, opening: first.application)
        #expect(try await second.rows() == before)
        let read = try await second.store.message(sent.message.id, in: nil, in: second.application)
        #expect(read == sent)
    }
}
