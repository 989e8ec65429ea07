import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Content nobody needs` {
    @Test func `R24: is dropped with its last use, and then its bytes are deleted`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(to: conversation).id
        let message = try await shop.attach(content, to: conversation).message.id
        #expect(try await shop.dropped() == [])
        try await shop.store.deleteMessage(message, in: nil, in: shop.application)
        #expect(try await shop.dropped() == [content])
        let kinds = try await shop.kinds {
            try await shop.store.eraseContents([content], in: shop.application)
        }
        #expect(kinds == ["contents.erased"])
        #expect(try await shop.dropped() == [])
    }

    @Test func `R24: parts that change let go of what they showed`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let (old, new) = try await (
            shop.upload(1, to: conversation), shop.upload(2, to: conversation)
        )
        let message = try await shop.attach(old.id, to: conversation).message.id
        func show(_ body: MessagePart.Body) async throws {
            let draft = try MessagePart.Draft(mimeType: "image/png", body: body)
            try await shop.store.changeParts(
                .replace(.index(0), draft), of: message, by: .system(conversation),
                in: shop.application)
        }
        try await show(.content(old.id, size: 5))
        #expect(try await shop.dropped() == [])
        try await show(.content(new.id, size: 5))
        #expect(try await shop.dropped() == [old.id])
        try await show(.inline([1]))
        #expect(try await shop.dropped() == [old.id, new.id])
    }

    @Test func `R18: goes with its conversation, all of it`() async throws {
        let shop = try await Shop()
        let (here, there) = try await (shop.conversation(), shop.conversation())
        let contents = try await [shop.upload(1, to: here).id, shop.upload(2, to: here).id]
        try await shop.upload(3, to: there)
        try await shop.attach(contents[0], to: here)
        try await shop.store.deleteConversation(here, in: shop.application)
        #expect(try await shop.dropped() == Set(contents))
    }

    @Test func `11.8: is forgotten after a while, unless a message came for it`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let (unused, shown, promised) = try await (
            shop.upload(1, to: conversation).id, shop.upload(2, to: nil).id,
            shop.upload(3, to: nil).id
        )
        try await shop.attach(shown, to: conversation)
        try await shop.schedule(attaching: promised, to: conversation)
        let end = shop.store.environment.now()
        try await shop.clean(before: end)
        #expect(try await shop.dropped() == [])
        shop.wait(milliseconds: 1)
        let kinds = try await shop.kinds {
            try await shop.clean(before: Timestamp(milliseconds: end.milliseconds + 1))
        }
        #expect(kinds == ["content.withdrawn"])
        #expect(try await shop.dropped() == [unused])
    }

    @Test(.enabled(if: onSQLite)) func `is found by its index`() async throws {
        let shop = try await Shop()
        let plans = try await shop.database.read { transaction in
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

@Suite struct `Content of a message that waits` {
    @Test func `stays when the last message that shows it is deleted`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(to: conversation)
        let message = try await shop.attach(content.id, to: conversation).message.id
        try await shop.schedule(attaching: content.id, to: conversation)
        try await shop.store.deleteMessage(message, in: nil, in: shop.application)
        #expect(try await !shop.store.withdrawContent(content.id))
        #expect(try await shop.store.signedContent(content.id) == content)
        try await shop.send(after: 5)
        let sent = try await shop.store.messages(
            in: conversation, limit: 1, in: shop.application
        ).items.first?.message
        #expect(sent?.parts.first?.body == .content(content.id, size: 5))
        try await shop.store.deleteMessage(try #require(sent).id, in: nil, in: shop.application)
        #expect(try await shop.dropped() == [content.id])
    }

    @Test func `is dropped with a message that cannot be sent`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(to: conversation).id
        try await shop.schedule(attaching: content, to: conversation)
        try await shop.patch(conversation, .removeParticipant(.ana))
        try await shop.send(after: 5)
        #expect(try await shop.dropped() == [content])
    }

    @Test func `that waited before there were promises is counted as it is shown`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(to: conversation).id
        try await shop.schedule(attaching: content, to: conversation)
        // As the migration leaves it.
        try await shop.database.write { transaction in
            try transaction.execute("DELETE FROM scheduled_contents")
            try transaction.execute("UPDATE contents SET use_count = 0")
        }
        try await shop.send(after: 5)
        #expect(try await !shop.store.withdrawContent(content))
        #expect(try await shop.dropped() == [])
    }
}

extension Shop {
    fileprivate func dropped() async throws -> Set<Content.ID> {
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
