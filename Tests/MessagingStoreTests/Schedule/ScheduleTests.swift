import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `Scheduled messages` {
    @Test func `5.2.1: they are sent when due, and dated then`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        #expect(try await shop.schedule(to: conversation) == .accepted(conversation))
        try await shop.send(after: 4)
        #expect(try await shop.texts(of: conversation) == [])
        #expect(try await shop.view(of: .bo).unreadCount == 0)
        let kinds = try await shop.kinds { try await shop.send(after: 2) }
        #expect(kinds == ["message.sent", "schedule.ended"])
        let sent = try await shop.view(of: .bo).lastMessage
        #expect(sent?.text == "later")
        #expect(sent?.message.sentAt == shop.store.environment.now())
    }

    @Test func `5.2.1: what became due while nobody ran is sent at start, once`() async throws {
        let folder = TemporaryFolder()
        let first = try await Shop(at: folder.database)
        let conversation = try await first.conversation()
        try await first.schedule("one", to: conversation)
        try await first.schedule("two", in: 6, to: conversation)
        first.database.close()
        let second = try await Shop(at: folder.database, opening: first.application)
        try await second.send(after: 60)
        second.database.close()
        let third = try await Shop(at: folder.database, opening: first.application)
        try await third.send(after: 120)
        #expect(try await third.texts(of: conversation) == ["two", "one"])
    }

    @Test func `5.2.1: they are dropped when the conversation is deleted`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.schedule(to: conversation)
        try await shop.store.deleteConversation(conversation, in: shop.application)
        let kinds = try await shop.kinds { try await shop.send(after: 5) }
        #expect(kinds == ["schedule.ended"])
        #expect(try await shop.kinds { try await shop.send(after: 5) } == [])
    }

    @Test(arguments: [.participants, .identities] as [Message.Draft.Admission])
    func `5.2.1: they are dropped when the sender was removed`(
        admission: Message.Draft.Admission
    ) async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.schedule(to: conversation, admission: admission)
        try await shop.patch(conversation, .removeParticipant(.ana))
        try await shop.send(after: 5)
        #expect(try await shop.texts(of: conversation) == [])
    }

    @Test func `5.2.1: who need not take part need not then`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.store.replaceIdentity(
            Identity(userID: .cy, displayName: "Cy", kind: .bot), in: shop.application)
        try await shop.schedule("bot", by: .user(.cy), to: conversation, admission: .identities)
        try await shop.schedule("shop", by: .named("Shop"), to: conversation)
        try await shop.patch(conversation, .removeParticipant(.ana))
        try await shop.send(after: 5)
        #expect(try await shop.texts(of: conversation) == ["shop", "bot"])
    }

    @Test func `1.6: what could not be sent now is refused now`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let kinds = try await shop.kinds {
            await #expect(throws: Rejection.invalid("sender.user_id", .senderParticipant)) {
                try await shop.schedule(by: .user(.cy), to: conversation)
            }
            await #expect(throws: Rejection.notFound(.conversation)) {
                try await shop.schedule(to: .sample(1))
            }
        }
        #expect(kinds == [])
    }

    @Test func `5.2.1: the event keeps from when on the sender types`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.schedule(typing: 2000, to: conversation)
        guard case .messageScheduled(let scheduled)? = try await shop.events().last?.event else {
            Issue.record("no message was scheduled")
            return
        }
        let due = scheduled.message.dueAt.milliseconds
        #expect(due == shop.store.environment.now().milliseconds + 5000)
        #expect(scheduled.message.typingFrom == Timestamp(milliseconds: due - 2000))
    }

    @Test func `they are sent in the order due, and those due at once as accepted`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.schedule("c", in: 9, to: conversation)
        for text in ["a", "b"] { try await shop.schedule(text, to: conversation) }
        try await shop.send(after: 10)
        #expect(try await shop.texts(of: conversation) == ["c", "b", "a"])
    }

    @Test func `more than a page of them are sent in one go`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let other = try await shop.store.createApplication(name: "Other").id
        let elsewhere = try await shop.store.createConversation(
            Conversation.Draft(participants: [.ana]), in: other
        ).object.conversation.id
        for number in 0..<130 {
            try await shop.schedule("\(number)", to: conversation)
            _ = try await shop.store.scheduleMessage(
                shop.draft("\(number)"), to: elsewhere, for: Schedule(delay: 5000), in: other)
        }
        #expect(try await shop.send(after: 5) == nil)
        let counts = try await [
            shop.store.messages(in: conversation, limit: 1, in: shop.application).total,
            shop.store.messages(in: elsewhere, limit: 1, in: other).total,
        ]
        #expect(counts == [130, 130])
    }

    @Test func `one that fails is told of, stays, and holds up nobody`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.schedule(to: conversation, id: .sample(1))
        try await shop.schedule("next", to: conversation)
        try await shop.database.write { transaction in
            try transaction.execute(
                "UPDATE scheduled_messages SET payload = \([UInt8(1)]) WHERE turn = 1")
        }
        shop.tick()
        shop.wait(milliseconds: 4000)
        await confirmation { told in
            let next = try? await shop.store.sendDueMessages { _, id in
                #expect(id == .sample(1))
                told()
            }
            let now = shop.store.environment.now().milliseconds
            #expect(next?.milliseconds == now + MessagingStore.retryPause)
        }
        #expect(try await shop.texts(of: conversation) == ["next"])
    }

    @Test func `rulings 18: what they attach is theirs while they wait`() async throws {
        let shop = try await Shop()
        let (conversation, other) = try await (shop.conversation(), shop.conversation())
        let content = try await shop.upload(to: nil).id
        let draft = try Message.Draft(
            sender: .named("Shop"),
            parts: [MessagePart.Draft(mimeType: "image/png", body: .content(content, size: 5))])
        _ = try await shop.store.scheduleMessage(
            draft, to: conversation, for: Schedule(delay: 5000), in: shop.application)
        await #expect(throws: Rejection.invalid("parts.content", .partContentUnknown)) {
            try await shop.attach(content, to: other)
        }
        try await shop.send(after: 5)
        let sent = try await shop.store.messages(
            in: conversation, limit: 1, in: shop.application)
        #expect(sent.items.first?.message.parts.first?.body == .content(content, size: 5))
    }

    @Test(.enabled(if: onSQLite)) func `what is due is read from its index`() async throws {
        let shop = try await Shop()
        let plan = try await shop.database.read { transaction in
            try transaction.rows(
                """
                EXPLAIN QUERY PLAN
                SELECT application, id, due_at, turn FROM scheduled_messages
                WHERE due_at <= \(Int64(5))
                    AND (due_at, application, turn) > (\(Int64(0)), \([UInt8]()), \(Int64(0)))
                ORDER BY due_at, application, turn LIMIT \(100)
                """
            ) { row in try row.text(3) }
        }
        #expect(plan.count == 1)
        #expect(plan.first?.contains("SEARCH") == true)
        #expect(plan.first?.contains("scheduled_messages_by_time") == true)
    }
}

@Suite struct `Replaying schedules` {
    let key: Replay.Key = .sample(42)

    @Test func `R111: twenty with one key send one message`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let kinds = try await shop.kinds {
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask { [key] in
                        let answer = try await shop.schedule(to: conversation, key: key)
                        #expect(answer == .accepted(conversation))
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(kinds == ["message.scheduled"])
        try await shop.send(after: 5)
        #expect(try await shop.texts(of: conversation) == ["later"])
    }

    @Test func `1.9: a repeat is answered as the first, before and after sending`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.schedule(to: conversation, key: key)
        let kinds = try await shop.kinds {
            let answer = try await shop.schedule(to: conversation, key: key)
            #expect(answer == .accepted(conversation))
            await #expect(throws: AnsweredBefore(conversation: conversation)) {
                try await shop.send(to: conversation, key: key)
            }
        }
        #expect(kinds == [])
        try await shop.send(after: 5)
        #expect(try await shop.schedule(to: conversation, key: key) == .accepted(conversation))
        #expect(try await shop.view(of: .ana).lastMessage?.message.id == Message.ID(key))
    }

    @Test func `1.9: the key of a message sent at once returns it`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let sent = try await shop.send(to: conversation, key: key).object
        #expect(try await shop.schedule(to: conversation, key: key) == .replayed(sent))
    }

    @Test func `rulings 12: a key of what was deleted or dropped finds nothing`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.schedule(to: conversation, key: key)
        try await shop.send(after: 5)
        try await shop.store.deleteMessage(Message.ID(key), in: nil, in: shop.application)
        try await shop.schedule(to: conversation, key: .sample(43))
        try await shop.schedule(in: 100, to: conversation, key: .sample(44))
        try await shop.patch(conversation, .removeParticipant(.ana))
        try await shop.send(after: 5)
        for key in [key, .sample(43)] {
            await #expect(throws: Rejection.notFound(.message)) {
                try await shop.schedule(to: conversation, key: key)
            }
        }
        #expect(
            try await shop.schedule(to: conversation, key: .sample(44)) == .accepted(conversation))
        try await shop.store.deleteConversation(conversation, in: shop.application)
        await #expect(throws: Rejection.notFound(.message)) {
            try await shop.schedule(to: conversation, key: .sample(44))
        }
    }

    @Test func `1.9: an id is promised to the message that waits`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.schedule(to: conversation, id: .sample(7))
        let kinds = try await shop.kinds {
            await #expect(throws: Rejection.idTaken(.message)) {
                try await shop.send(to: conversation, id: .sample(7))
            }
            await #expect(throws: Rejection.idTaken(.message)) {
                try await shop.schedule(to: conversation, id: .sample(7))
            }
            await #expect(throws: AnsweredBefore(conversation: conversation)) {
                try await shop.send(to: conversation, key: Replay.Key(Message.ID.sample(7)))
            }
        }
        #expect(kinds == [])
        try await shop.send(after: 5)
        let sent = try await shop.store.message(.sample(7), in: nil, in: shop.application)
        #expect(try await shop.send(to: conversation, id: .sample(7)) == .idInUse(sent))
    }
}
