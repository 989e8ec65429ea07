import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `Scheduled messages` {
    @Test func `5.2.1: they are sent when due, with that time`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        #expect(try await sample.schedule(to: conversation) == .accepted(conversation))
        try await sample.send(after: 4)
        #expect(try await sample.texts(of: conversation) == [])
        #expect(try await sample.view(of: .bo).unreadCount == 0)
        let kinds = try await sample.kinds { try await sample.send(after: 2) }
        #expect(kinds == ["message.sent", "schedule.ended"])
        let sent = try await sample.view(of: .bo).lastMessage
        #expect(sent?.text == "later")
        #expect(sent?.message.sentAt == sample.store.environment.now())
    }

    @Test func `5.2.1: messages that became due while no process ran are sent at start, once`()
        async throws
    {
        let folder = TemporaryFolder()
        let first = try await SampleApplication(at: folder.database)
        let conversation = try await first.conversation()
        try await first.schedule("one", to: conversation)
        try await first.schedule("two", in: 6, to: conversation)
        first.database.close()
        let second = try await SampleApplication(at: folder.database, opening: first.application)
        try await second.send(after: 60)
        second.database.close()
        let third = try await SampleApplication(at: folder.database, opening: first.application)
        try await third.send(after: 120)
        #expect(try await third.texts(of: conversation) == ["two", "one"])
    }

    @Test func `5.2.1: they are dropped when the conversation is deleted`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.schedule(to: conversation)
        try await sample.store.deleteConversation(conversation, in: sample.application)
        let kinds = try await sample.kinds { try await sample.send(after: 5) }
        #expect(kinds == ["schedule.ended"])
        #expect(try await sample.kinds { try await sample.send(after: 5) } == [])
    }

    @Test(arguments: [.participants, .identities] as [Message.Draft.Admission])
    func `5.2.1: they are dropped when the sender was removed`(
        admission: Message.Draft.Admission
    ) async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.schedule(to: conversation, admission: admission)
        try await sample.patch(conversation, .removeParticipant(.ana))
        try await sample.send(after: 5)
        #expect(try await sample.texts(of: conversation) == [])
    }

    @Test func `5.2.1: senders that need not be participants need not be when it is sent`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.store.replaceIdentity(
            Identity(userID: .cy, displayName: "Cy", kind: .bot), in: sample.application)
        try await sample.schedule("bot", by: .user(.cy), to: conversation, admission: .identities)
        try await sample.schedule("shop", by: .named("Shop"), to: conversation)
        try await sample.patch(conversation, .removeParticipant(.ana))
        try await sample.send(after: 5)
        #expect(try await sample.texts(of: conversation) == ["shop", "bot"])
    }

    @Test func `1.6: a message that could not be sent now is rejected at once`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let kinds = try await sample.kinds {
            await #expect(throws: Rejection.invalid("sender.user_id", .senderParticipant)) {
                try await sample.schedule(by: .user(.cy), to: conversation)
            }
            await #expect(throws: Rejection.notFound(.conversation)) {
                try await sample.schedule(to: .sample(1))
            }
        }
        #expect(kinds == [])
    }

    @Test func `5.2.1: the event has the time at which typing starts`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.schedule(typing: 2000, to: conversation)
        guard case .messageScheduled(let scheduled)? = try await sample.events().last?.event else {
            Issue.record("no message was scheduled")
            return
        }
        let due = scheduled.message.dueAt.milliseconds
        #expect(due == sample.store.environment.now().milliseconds + 5000)
        #expect(scheduled.message.typingFrom == Timestamp(milliseconds: due - 2000))
    }

    @Test func `they are sent in the order due, then in the order accepted`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.schedule("c", in: 9, to: conversation)
        for text in ["a", "b"] { try await sample.schedule(text, to: conversation) }
        try await sample.send(after: 10)
        #expect(try await sample.texts(of: conversation) == ["c", "b", "a"])
    }

    @Test func `more than one page of them is sent in one run`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let other = try await sample.store.createApplication(name: "Other").id
        let elsewhere = try await sample.store.createConversation(
            Conversation.Draft(participants: [.ana]), in: other
        ).object.conversation.id
        for number in 0..<130 {
            try await sample.schedule("\(number)", to: conversation)
            _ = try await sample.store.scheduleMessage(
                sample.draft("\(number)"), to: elsewhere, for: Schedule(delay: 5000), in: other)
        }
        #expect(try await sample.send(after: 5) == nil)
        let counts = try await [
            sample.store.messages(in: conversation, limit: 1, in: sample.application).total,
            sample.store.messages(in: elsewhere, limit: 1, in: other).total,
        ]
        #expect(counts == [130, 130])
    }

    @Test func `one that fails is reported, kept, and does not delay others`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.schedule(to: conversation, id: .sample(1))
        try await sample.schedule("next", to: conversation)
        try await sample.database.write { transaction in
            try transaction.execute(
                "/* test */ UPDATE scheduled_messages SET payload = \([UInt8(1)]) WHERE turn = 1")
        }
        sample.tick()
        sample.wait(milliseconds: 4000)
        await confirmation { reported in
            let next = try? await sample.store.sendDueMessages { _, id in
                #expect(id == .sample(1))
                reported()
            }
            let now = sample.store.environment.now().milliseconds
            #expect(next?.milliseconds == now + MessagingStore.retryPause)
        }
        #expect(try await sample.texts(of: conversation) == ["next"])
    }

    @Test func `ruling 18: contents they attach are bound while they wait`() async throws {
        let sample = try await SampleApplication()
        let (conversation, other) = try await (sample.conversation(), sample.conversation())
        let content = try await sample.upload(to: nil).id
        let draft = try Message.Draft(
            sender: .named("Shop"),
            parts: [MessagePart.Draft(mimeType: "image/png", body: .content(content, size: 5))])
        _ = try await sample.store.scheduleMessage(
            draft, to: conversation, for: Schedule(delay: 5000), in: sample.application)
        await #expect(throws: Rejection.invalid("parts.content", .partContentUnknown)) {
            try await sample.attach(content, to: other)
        }
        try await sample.send(after: 5)
        let sent = try await sample.store.messages(
            in: conversation, limit: 1, in: sample.application)
        #expect(sent.items.first?.message.parts.first?.body == .content(content, size: 5))
    }

    @Test(.enabled(if: onSQLite)) func `due messages are read from their index`() async throws {
        let sample = try await SampleApplication()
        let plan = try await sample.database.read { transaction in
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

    @Test func `R111: twenty requests with one key send one message`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let kinds = try await sample.kinds {
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask { [key] in
                        let answer = try await sample.schedule(to: conversation, key: key)
                        #expect(answer == .accepted(conversation))
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(kinds == ["message.scheduled"])
        try await sample.send(after: 5)
        #expect(try await sample.texts(of: conversation) == ["later"])
    }

    @Test func `1.9: a repeat gets the first answer, before and after sending`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.schedule(to: conversation, key: key)
        let kinds = try await sample.kinds {
            let answer = try await sample.schedule(to: conversation, key: key)
            #expect(answer == .accepted(conversation))
            await #expect(throws: ReplayedAcceptance(conversation: conversation)) {
                try await sample.send(to: conversation, key: key)
            }
        }
        #expect(kinds == [])
        try await sample.send(after: 5)
        #expect(try await sample.schedule(to: conversation, key: key) == .accepted(conversation))
        #expect(try await sample.view(of: .ana).lastMessage?.message.id == Message.ID(key))
    }

    @Test func `1.9: the key of a message sent at once returns the message`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let sent = try await sample.send(to: conversation, key: key).object
        #expect(try await sample.schedule(to: conversation, key: key) == .replayed(sent))
    }

    @Test func `ruling 12: the key of a deleted or dropped message finds nothing`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.schedule(to: conversation, key: key)
        try await sample.send(after: 5)
        try await sample.store.deleteMessage(Message.ID(key), in: nil, in: sample.application)
        try await sample.schedule(to: conversation, key: .sample(43))
        try await sample.schedule(in: 100, to: conversation, key: .sample(44))
        try await sample.patch(conversation, .removeParticipant(.ana))
        try await sample.send(after: 5)
        for key in [key, .sample(43)] {
            await #expect(throws: Rejection.notFound(.message)) {
                try await sample.schedule(to: conversation, key: key)
            }
        }
        #expect(
            try await sample.schedule(to: conversation, key: .sample(44)) == .accepted(conversation)
        )
        try await sample.store.deleteConversation(conversation, in: sample.application)
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.schedule(to: conversation, key: .sample(44))
        }
    }

    @Test func `1.9: an id is reserved by the scheduled message`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.schedule(to: conversation, id: .sample(7))
        let kinds = try await sample.kinds {
            await #expect(throws: Rejection.idTaken(.message)) {
                try await sample.send(to: conversation, id: .sample(7))
            }
            await #expect(throws: Rejection.idTaken(.message)) {
                try await sample.schedule(to: conversation, id: .sample(7))
            }
            await #expect(throws: ReplayedAcceptance(conversation: conversation)) {
                try await sample.send(to: conversation, key: Replay.Key(Message.ID.sample(7)))
            }
        }
        #expect(kinds == [])
        try await sample.send(after: 5)
        let sent = try await sample.store.message(.sample(7), in: nil, in: sample.application)
        #expect(try await sample.send(to: conversation, id: .sample(7)) == .idInUse(sent))
    }
}

extension SampleApplication {
    /// Accepts a message that is due in `seconds`.
    @discardableResult
    func schedule(
        _ text: String = "later", by sender: Sender = .user(.ana), in seconds: Int64 = 5,
        typing: Int64? = nil, to conversation: Conversation.ID, id: Message.ID? = nil,
        admission: Message.Draft.Admission = .participants, key: Replay.Key? = nil
    ) async throws -> Acceptance {
        try await store.scheduleMessage(
            try draft(text, by: sender, id: id, admission: admission), to: conversation,
            for: Schedule(delay: seconds * 1000, typing: typing), key: key, in: application)
    }

    /// Accepts a message that attaches a content and is due in five seconds.
    func schedule(attaching content: Content.ID, to conversation: Conversation.ID) async throws {
        let draft = try Message.Draft(
            sender: .user(.ana), admission: .participants,
            parts: [MessagePart.Draft(mimeType: "image/png", body: .content(content, size: 5))])
        _ = try await store.scheduleMessage(
            draft, to: conversation, for: Schedule(delay: 5000, typing: nil), in: application)
    }

    func draft(
        _ text: String, by sender: Sender = .user(.ana), id: Message.ID? = nil,
        admission: Message.Draft.Admission = .participants
    ) throws -> Message.Draft {
        try Message.Draft(
            sender: sender, admission: admission,
            parts: [MessagePart.Draft(mimeType: "text/plain", body: .inline(Array(text.utf8)))],
            proposedID: id)
    }

    /// Advances the clock and sends the messages that are due.
    @discardableResult
    func send(after seconds: Int64) async throws -> Timestamp? {
        wait(milliseconds: seconds * 1000)
        return try await store.sendDueMessages { error, _ in Issue.record(error) }
    }

    @discardableResult
    func batch(
        _ sendings: [Message.BatchItem], to conversation: Conversation.ID, key: Replay.Key? = nil
    ) async throws -> Acceptance {
        try await store.sendBatch(sendings, to: conversation, key: key, in: application)
    }

    /// Schedules messages that are sent, dropped or still waiting, and a batch.
    func scheduleMessages() async throws {
        let (kept, gone) = try await (conversation(), conversation())
        try await schedule("sent", typing: 2000, to: kept, key: .sample(31))
        try await schedule("dropped", to: gone)
        try await store.deleteConversation(gone, in: application)
        try await batch(
            [
                Message.BatchItem(draft("now")),
                Message.BatchItem(draft("then"), Schedule(delay: 5000)),
            ], to: kept, key: .sample(32))
        try await schedule("waiting", in: 300, to: kept)
        let (promised, used) = try await (upload(7, to: nil).id, upload(8, to: nil).id)
        try await schedule(attaching: promised, to: kept)
        try await schedule(attaching: used, to: kept)
        let message = try await attach(used, to: kept).message.id
        try await store.deleteMessage(message, in: nil, in: application)
        try await send(after: 5)
        try await schedule(attaching: used, to: kept)
        try await store.withdrawUnusedContents(
            completedBefore: store.environment.now(), limit: 100)
        let dropped = try await store.droppedContents(limit: 1)
        try await store.eraseContents(dropped.map(\.id), in: application)
    }

    /// A sender of scheduled messages with the given sleep.
    func sender(
        sleep: @escaping @Sendable (Int64) async -> Void
    ) -> ScheduledSender {
        ScheduledSender(store: store, sleep: sleep) { error, _ in Issue.record(error) }
    }
}
