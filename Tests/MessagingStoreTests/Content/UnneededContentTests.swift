import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Unused content` {
    @Test func `R24: is dropped with its last use, then its bytes are deleted`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let content = try await sample.upload(to: conversation).id
        let message = try await sample.attach(content, to: conversation).message.id
        #expect(try await sample.dropped() == [])
        try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        #expect(try await sample.dropped() == [content])
        let kinds = try await sample.kinds {
            try await sample.store.eraseContents([content], in: sample.application)
        }
        #expect(kinds == ["contents.erased"])
        #expect(try await sample.dropped() == [])
    }

    @Test func `R24: changed parts release the contents they used`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let (old, new) = try await (
            sample.upload(1, to: conversation), sample.upload(2, to: conversation)
        )
        let message = try await sample.attach(old.id, to: conversation).message.id
        func show(_ body: MessagePart.Body) async throws {
            let draft = try MessagePart.Draft(mimeType: "image/png", body: body)
            try await sample.store.changeParts(
                .replace(.index(0), draft), of: message, in: conversation, by: .system,
                in: sample.application)
        }
        try await show(.content(old.id, size: 5))
        #expect(try await sample.dropped() == [])
        try await show(.content(new.id, size: 5))
        #expect(try await sample.dropped() == [old.id])
        try await show(.inline([1]))
        #expect(try await sample.dropped() == [old.id, new.id])
    }

    @Test func `R18: is dropped with its conversation`() async throws {
        let sample = try await SampleApplication()
        let (here, there) = try await (sample.conversation(), sample.conversation())
        let contents = try await [sample.upload(1, to: here).id, sample.upload(2, to: here).id]
        try await sample.upload(3, to: there)
        try await sample.attach(contents[0], to: here)
        try await sample.store.deleteConversation(here, in: sample.application)
        #expect(try await sample.dropped() == Set(contents))
    }

    @Test func `11.8: is dropped after a time, unless a message uses it`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let (unused, shown, promised) = try await (
            sample.upload(1, to: conversation).id, sample.upload(2, to: nil).id,
            sample.upload(3, to: nil).id
        )
        try await sample.attach(shown, to: conversation)
        try await sample.schedule(attaching: promised, to: conversation)
        let end = sample.store.environment.now()
        try await sample.clean(before: end)
        #expect(try await sample.dropped() == [])
        sample.wait(milliseconds: 1)
        let kinds = try await sample.kinds {
            try await sample.clean(before: Timestamp(milliseconds: end.milliseconds + 1))
        }
        #expect(kinds == ["content.withdrawn"])
        #expect(try await sample.dropped() == [unused])
    }

    @Test(.enabled(if: onSQLite)) func `is found by an index`() async throws {
        let sample = try await SampleApplication()
        let plans = try await sample.database.read { transaction in
            try transaction.rows(
                """
                EXPLAIN QUERY PLAN SELECT application, id FROM contents
                WHERE use_count = 0 AND completed_at < \(Int64(5))
                ORDER BY application, completed_at LIMIT \(100)
                """
            ) { row in try row.text(3) }
                + transaction.rows(
                    """
                    EXPLAIN QUERY PLAN SELECT application, content FROM dropped_contents
                    ORDER BY application, content LIMIT \(100)
                    """
                ) { row in try row.text(3) }
                + transaction.rows(
                    """
                    EXPLAIN QUERY PLAN SELECT content FROM scheduled_contents
                    WHERE application = \([UInt8]()) AND message = \([UInt8]())
                    """
                ) { row in try row.text(3) }
        }
        #expect(plans.count == 3)
        for (plan, index) in zip(
            plans,
            ["contents_unused", "dropped_contents_by_content", "scheduled_contents_by_message"])
        {
            #expect(plan.contains(index))
        }
    }
}

@Suite struct `Content of a scheduled message` {
    @Test func `stays when the last message that shows it is deleted`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let content = try await sample.upload(to: conversation)
        let message = try await sample.attach(content.id, to: conversation).message.id
        try await sample.schedule(attaching: content.id, to: conversation)
        try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        #expect(try await !sample.store.withdrawContent(content.id))
        #expect(try await sample.store.signedContent(content.id) == content)
        try await sample.send(after: 5)
        let sent = try await sample.store.messages(
            in: conversation, limit: 1, in: sample.application
        ).items.first?.message
        #expect(sent?.parts.first?.body == .content(content.id, size: 5))
        try await sample.store.deleteMessage(try #require(sent).id, in: nil, in: sample.application)
        #expect(try await sample.dropped() == [content.id])
    }

    @Test func `is dropped with a message that cannot be sent`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let content = try await sample.upload(to: conversation).id
        try await sample.schedule(attaching: content, to: conversation)
        try await sample.patch(conversation, .removeParticipant(.ana))
        try await sample.send(after: 5)
        #expect(try await sample.dropped() == [content])
    }

    @Test func `scheduled without a reservation is counted when it is sent`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let content = try await sample.upload(to: conversation).id
        try await sample.schedule(attaching: content, to: conversation)
        // A message that was scheduled without a row for its content.
        try await sample.database.write { transaction in
            try transaction.execute("DELETE FROM scheduled_contents")
            try transaction.execute("/* test */ UPDATE contents SET use_count = 0")
        }
        try await sample.send(after: 5)
        #expect(try await !sample.store.withdrawContent(content))
        #expect(try await sample.dropped() == [])
    }
}

extension SampleApplication {
    func dropped() async throws -> Set<Content.ID> {
        Set(
            try await store.droppedContents(limit: 100).map { content in
                #expect(content.application == application)
                return content.id
            })
    }

    fileprivate func clean(before moment: Timestamp) async throws {
        try await store.withdrawUnusedContents(completedBefore: moment, limit: 100)
    }
}
