import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Uploaded content` {
    @Test func `R24: finishing twice makes one content and one event`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let kinds = try await shop.kinds {
            let content = try await shop.upload(to: conversation)
            try await shop.upload(to: conversation)
            #expect(
                try await shop.store.content(content.id, in: nil, in: shop.application) == content)
        }
        #expect(kinds == ["content.uploaded"])
    }

    @Test func `extensions: the stored size wins over the claimed one`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(size: 5, to: conversation)
        let sent = try await shop.attach(content.id, to: conversation, claiming: 99)
        #expect(sent.message.parts.first?.body == .content(content.id, size: 5))
        let read = try await shop.store.message(sent.message.id, in: nil, in: shop.application)
        #expect(read == sent)
    }

    @Test func `one that no message shows can be withdrawn, once`() async throws {
        let shop = try await Shop()
        let content = try await shop.upload(to: try await shop.conversation())
        let kinds = try await shop.kinds {
            for _ in 1...2 {
                let isGone = try await shop.store.withdrawContent(content.id)
                #expect(isGone)
            }
        }
        #expect(kinds == ["content.withdrawn"])
        #expect(try await shop.store.signedContent(content.id) == nil)
    }

    @Test func `one that a message shows stays`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(to: conversation)
        try await shop.attach(content.id, to: conversation)
        let kinds = try await shop.kinds {
            let isGone = try await shop.store.withdrawContent(content.id)
            #expect(!isGone)
        }
        #expect(kinds.isEmpty)
        #expect(try await shop.store.signedContent(content.id) == content)
    }

    @Test func `R18: one that arrives after its conversation was deleted is refused`() async throws
    {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.store.deleteConversation(conversation, in: shop.application)
        let kinds = try await shop.kinds {
            await #expect(throws: Rejection.objectDeleted) {
                try await shop.upload(to: conversation)
            }
        }
        #expect(kinds.isEmpty)
    }

    @Test func `R24: another conversation may not attach it`() async throws {
        let shop = try await Shop()
        let (here, there) = try await (shop.conversation(), shop.conversation())
        let content = try await shop.upload(to: here)
        await #expect(throws: Rejection.invalid("parts.content")) {
            try await shop.attach(content.id, to: there)
        }
        await #expect(throws: Rejection.notFound(.content)) {
            try await shop.store.content(content.id, in: there, in: shop.application)
        }
    }

    @Test func `rulings 18: an unbound one belongs to who attaches it first`() async throws {
        let shop = try await Shop()
        let (here, there) = try await (shop.conversation(), shop.conversation())
        let content = try await shop.upload(to: nil)
        try await shop.attach(content.id, to: here)
        let bound = try await shop.store.content(content.id, in: here, in: shop.application)
        #expect(bound.conversation == here)
        await #expect(throws: Rejection.invalid("parts.content")) {
            try await shop.attach(content.id, to: there)
        }
    }

    @Test func `R24: it goes with the last message that attaches it`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(to: conversation)
        let first = try await shop.attach(content.id, to: conversation).message.id
        let second = try await shop.attach(content.id, to: conversation).message.id
        try await shop.store.deleteMessage(first, in: nil, in: shop.application)
        #expect(try await shop.store.signedContent(content.id) == content)
        try await shop.store.deleteMessage(second, in: nil, in: shop.application)
        #expect(try await shop.store.signedContent(content.id) == nil)
    }

    @Test func `R18: it goes with its conversation`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let content = try await shop.upload(to: conversation)
        try await shop.store.deleteConversation(conversation, in: shop.application)
        #expect(try await shop.store.signedContent(content.id) == nil)
    }
}

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

@Suite struct `The bytes of an application` {
    @Test func `are those of its contents, until these are dropped`() async throws {
        let shop = try await Shop()
        let (here, there) = try await (shop.conversation(), shop.conversation())
        try await shop.upload(1, size: 100, to: here)
        let shown = try await shop.upload(2, size: 20, to: there).id
        let unused = try await shop.upload(3, size: 3, to: nil).id
        let message = try await shop.attach(shown, to: there).message.id
        #expect(try await shop.bytes() == 123)
        _ = try await shop.store.withdrawContent(unused)
        #expect(try await shop.bytes() == 120)
        try await shop.store.deleteMessage(message, in: nil, in: shop.application)
        #expect(try await shop.bytes() == 100)
        try await shop.store.deleteConversation(here, in: shop.application)
        #expect(try await shop.bytes() == 0)
        #expect(try await shop.store.contentBytes(in: .sample(99)) == 0)
    }
}

@Suite struct `The content of a user` {
    @Test func `R86: its uploader reads it, before any message shows it`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.ana, .bo])
        let content = try await shop.upload(to: nil, by: .ana)
        #expect(try await shop.content(content.id, for: .ana) == content)
        await #expect(throws: Rejection.notFound(.content)) {
            try await shop.content(content.id, for: .bo)
        }
    }

    @Test func `R86: so does who sees a message that attaches it, while he does`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation([.ana, .bo])
        try await shop.conversation([.cy])
        let content = try await shop.upload(to: nil, by: .ana).id
        let message = try await shop.attach(content, to: conversation).message.id
        // The first message binds it (rulings 18).
        #expect(try await shop.content(content, for: .bo).conversation == conversation)
        await #expect(throws: Rejection.notFound(.content)) {
            try await shop.content(content, for: .cy)
        }
        try await shop.patch(conversation, .addParticipant(.cy))
        #expect(try await shop.content(content, for: .cy).id == content)
        try await shop.store.deleteMessage(message, in: nil, in: shop.application)
        await #expect(throws: Rejection.notFound(.content)) {
            try await shop.content(content, for: .bo)
        }
    }

    @Test func `R86: nobody reads what came into a conversation after he left`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation([.ana, .bo])
        try await shop.patch(conversation, .removeParticipant(.bo))
        let content = try await shop.upload(to: conversation).id
        try await shop.attach(content, to: conversation)
        #expect(try await shop.content(content, for: .ana).id == content)
        await #expect(throws: Rejection.notFound(.content)) {
            try await shop.content(content, for: .bo)
        }
    }

    @Test func `rulings 19: users nobody has named read and upload nothing`() async throws {
        let shop = try await Shop()
        let content = try await shop.upload(to: try await shop.conversation()).id
        await #expect(throws: Rejection.notFound(.user)) {
            try await shop.content(content, for: .named("nobody"))
        }
        await #expect(throws: Rejection.notFound(.user)) {
            try await shop.store.requireUser(.named("nobody"), in: shop.application)
        }
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

    fileprivate func bytes() async throws -> Int64 { try await store.contentBytes(in: application) }

    fileprivate func clean(before moment: Timestamp) async throws {
        try await store.withdrawUnusedContents(completedBefore: moment, limit: 100)
    }

    fileprivate func content(_ id: Content.ID, for user: UserID) async throws -> Content {
        try await store.content(id, seenBy: user, in: application)
    }
}
