import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Lists of large items` {
    /// All items page by page. Only a page with a single item may be larger than the response limit.
    private func pages<Item>(
        weighing weight: (Item) -> Int64, _ read: (_ after: Item?) async throws -> ListPage<Item>
    ) async throws -> (items: [Item], cuts: Int) {
        var (items, cuts): ([Item], Int) = ([], 0)
        while true {
            let page = try await read(items.last)
            let sum = page.items.reduce(0) { sum, item in sum + weight(item) }
            #expect(sum <= ResponseBudget.bytes || page.items.count == 1)
            items += page.items
            guard page.isCut else { return (items, cuts) }
            cuts += 1
        }
    }

    /// A message of a megabyte: a thousand parts.
    private func large(_ mark: UInt8, from user: UserID) throws -> Message.Draft {
        try Message.Draft(
            sender: .user(user),
            parts: try (0..<1000).map { _ in
                try MessagePart.Draft(
                    mimeType: "text/plain", body: .inline([UInt8](repeating: mark, count: 1024)))
            })
    }

    @Test func `of messages end early and continue there (1_10)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        var sent: [Message.ID] = []
        for mark in UInt8(0x61)...0x6A {
            let draft = try large(mark, from: .ana)
            sent.append(
                try await sample.store.sendMessage(
                    draft, to: conversation, in: sample.application
                ).object.message.id)
            sent.append(
                try await sample.send("small", by: .bo, to: conversation).object.message.id)
        }
        var filter = MessageFilter()
        filter.media = MediaRange("text/*")
        for matching in [MessageFilter(), filter] {
            let all = try await pages(weighing: { item in item.message.weight }) { last in
                try await sample.store.messages(
                    in: conversation, matching: matching, after: last?.message.id, limit: 101,
                    in: sample.application)
            }
            let seen = try await pages(weighing: { item in item.message.weight }) { last in
                try await sample.store.messages(
                    in: conversation, seenBy: .user(.bo), matching: matching,
                    after: last?.message.id,
                    limit: 101, in: sample.application)
            }
            for list in [all, seen] {
                #expect(list.items.map(\.message.id) == sent.reversed())
                #expect(list.cuts == 3)
            }
        }
        filter.sender = .bo
        let small = try await sample.store.messages(
            in: conversation, matching: filter, limit: 101, in: sample.application)
        #expect(small.items.count == 10 && small.total == 10 && !small.isCut)
    }

    @Test func `have the size of each message, before and after its parts change (5_3)`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.upload(to: conversation)
        try await sample.attach(.sample(1), to: conversation)
        let message = try await sample.send("häuser", to: conversation).object.message.id
        let part = try MessagePart.Draft(mimeType: "text/höchst", body: .inline([1, 2, 3]))
        _ = try await sample.store.addPart(
            part, to: message, in: conversation, by: .system, in: sample.application)
        try await sample.expectSameRowsAgain()
        for _ in 0..<2 {
            let weights = try await sample.database.read { transaction in
                try transaction.rows("/* test */ SELECT weight FROM messages ORDER BY position") {
                    row in
                    try row.int64(0)
                }
            }
            let page = try await sample.store.messages(
                in: conversation, limit: 10, in: sample.application)
            #expect(page.items.reversed().map(\.message.weight) == weights)
            // The size of a message is computed from its parts.
            try await sample.database.write { transaction in
                try transaction.execute("/* test */ UPDATE messages SET weight = 0")
                try transaction.execute(
                    """
                    /* test */ UPDATE messages SET weight = (
                        SELECT CAST(COALESCE(SUM(
                            COALESCE(LENGTH(p.body), 0) + LENGTH(p.mime_type) + 256
                        ), 0) AS BIGINT) FROM parts p
                        WHERE p.application = messages.application AND p.message = messages.id
                    )
                    """)
            }
        }
    }

    @Test(arguments: [ConversationOrder.createdAt, .lastMessage])
    func `of conversations end early and continue there (1_10)`(
        order: ConversationOrder
    ) async throws {
        let sample = try await SampleApplication()
        let leaf = MetadataTree.text(String(repeating: "x", count: 2048))
        let metadata = MetadataTree.object(
            (0..<100).map { number in MetadataTree.Member(key: "k\(number)", value: leaf) })
        var made: [Conversation.ID] = []
        for number in 0..<45 {
            sample.tick()
            let id = try await sample.conversation(metadata: metadata)
            if number % 15 == 0 {
                let draft = try large(0x61, from: .ana)
                _ = try await sample.store.sendMessage(draft, to: id, in: sample.application)
            }
            made.append(id)
        }
        var filter = ConversationFilter()
        filter.participants = [.bo]
        for matching in [ConversationFilter(), filter] {
            let list = try await pages(weighing: { _ in 200 << 10 }) { last in
                try await sample.store.conversations(
                    of: .ana, matching: matching, sortedBy: order, after: last?.id, limit: 101,
                    in: sample.application)
            }
            #expect(list.items.map(\.id) == made.reversed())
            #expect((2...5).contains(list.cuts))
        }
    }

    @Test func `of announcements end early and continue there (1_10)`() async throws {
        let sample = try await SampleApplication()
        var made: [Announcement.ID] = []
        for mark in UInt8(0x61)...0x69 {
            sample.tick()
            let parts = try large(mark, from: .ana).parts
            made.append(
                try await sample.store.announce(
                    Announcement.Draft(
                        recipients: [.bo], sender: .service("Shop"), parts: parts,
                        notification: nil), in: sample.application
                ).object.announcement.id)
        }
        let list = try await pages(
            weighing: { view in
                view.announcement.parts.reduce(0) { sum, part in sum + part.weight }
            }
        ) { last in
            try await sample.store.announcements(
                for: .bo, after: last?.announcement.id, limit: 101, in: sample.application)
        }
        #expect(list.items.map(\.announcement.id) == made.reversed())
        #expect(list.cuts == 2)
    }

    @Test func `of identities end early and continue there (5_8)`() async throws {
        let sample = try await SampleApplication()
        let users = (10..<20).map { number in UserID.named("u\(number)") }
        for user in users {
            var identity = Identity(userID: user, displayName: "U")
            identity[.publicKey] = String(repeating: "k", count: 900 << 10)
            _ = try await sample.store.createIdentity(identity, in: sample.application)
        }
        try await sample.announce(to: [.ana])
        try await sample.store.follow(users, by: .ana, in: sample.application)
        let list = try await pages(weighing: { _ in 900 << 10 }) { last in
            try await sample.store.followedUsers(
                of: .ana, after: last?.id, limit: 501, in: sample.application)
        }
        #expect(list.items.map(\.id) == users)
        #expect(list.cuts == 2)
    }
}
