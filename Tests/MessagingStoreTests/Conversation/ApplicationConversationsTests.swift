import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `An application's conversations` {
    @Test func `ruling 37: newest first, equal times by id, paged and counted`() async throws {
        let sample = try await SampleApplication()
        var made: [Conversation] = []
        for number in 0..<7 {
            // Three are created in the same millisecond.
            if !(2...3).contains(number) { sample.tick() }
            made.append(try await sample.create([.ana, .bo]).object.conversation)
        }
        let wanted = made.sorted { left, right in
            (left.createdAt, left.id) > (right.createdAt, right.id)
        }
        for size in 1...8 {
            let found = try await sample.pages(size)
            #expect(found.items.map(\.conversation.id) == wanted.map(\.id))
            #expect(found.totals == [7])
        }
        let first = try await sample.store.conversations(limit: 1, in: sample.application).items
            .first
        #expect(try await sample.read(wanted[0].id) == first)
    }

    @Test func `R55, R18: conversations hidden from participants are listed, deleted ones not`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.store.replaceIdentity(
            Identity(userID: .ana, displayName: "Ana"), in: sample.application)
        let draft = try Conversation.Draft(participants: [.ana, .bo])
        let hidden = try await sample.store.createConversation(
            draft, by: .ana, in: sample.application
        ).object.id
        #expect(
            try await sample.store.conversations(of: .bo, limit: 1, in: sample.application).total
                == 0)
        sample.tick()
        let empty = try await sample.conversation([.cy])
        try await sample.patch(empty, .removeParticipant(.cy), .addParticipant(.bo))
        sample.tick()
        let gone = try await sample.conversation()
        try await sample.store.deleteConversation(gone, .forMe, by: .ana, in: sample.application)
        #expect(try await sample.pages(2).totals == [3])
        try await sample.store.deleteConversation(gone, in: sample.application)
        try await sample.store.deleteConversation(gone, in: sample.application)
        let found = try await sample.pages(2)
        #expect(found.items.map(\.conversation.id) == [empty, hidden])
        #expect(
            found.items.map { item in item.participants.map(\.displayName) } == [
                [nil], ["Ana", nil],
            ])
        #expect(found.totals == [2])
        try await sample.expectSameRowsAgain()
    }

    @Test func `ruling 17: a page after a deleted or unknown conversation is not found`()
        async throws
    {
        let sample = try await SampleApplication()
        let other = try await SampleApplication(beside: sample)
        let gone = try await sample.conversation()
        try await sample.store.deleteConversation(gone, in: sample.application)
        let foreign = try await other.conversation()
        for id in [gone, foreign, .sample(1)] {
            var filter = ConversationFilter()
            for _ in 1...2 {
                await #expect(throws: Rejection.notFound(.conversation)) {
                    try await sample.store.conversations(
                        matching: filter, after: id, limit: 1, in: sample.application)
                }
                filter.isDistinct = false
            }
        }
        #expect(try await sample.pages(1).totals == [0])
        #expect(try await other.pages(1).totals == [1])
    }

    @Test func `X1: two merged conversations are one, and a page continues after an alias`()
        async throws
    {
        let sample = try await SampleApplication()
        let first = try await sample.create(isDistinct: true).object.conversation.id
        sample.tick()
        let last = try await sample.conversation([.cy])
        let alias = try await sample.addDistinctConversation(
            7, createdAt: sample.tick().milliseconds)
        #expect(try await sample.pages(1).totals == [3])
        try await sample.reconcile(alias)
        let found = try await sample.pages(1)
        #expect(found.items.map(\.conversation.id) == [last, first])
        #expect(found.totals == [2])
        let page = try await sample.store.conversations(
            after: alias, limit: 1, in: sample.application)
        #expect(page.items.isEmpty && page.start == first)
        try await sample.expectSameRowsAgain()
    }

    @Test func `X9: matches of a filter are paged and counted`() async throws {
        let sample = try await SampleApplication()
        let topics: [MetadataTree] = [["topic": "rent"], ["topic": "keys"], .empty]
        for number in 0..<540 {
            if number % 3 == 0 { sample.tick() }
            let users: [UserID] = number % 2 == 0 ? [.ana, .bo] : [.ana, .cy, .bo]
            let made = try await sample.create(
                number % 5 == 0 ? [.ana, .named("user-\(number)")] : users,
                isDistinct: number % 5 == 0, metadata: topics[number % 3]
            ).object.conversation.id
            if number % 11 == 0, number % 5 != 0 {
                try await sample.patch(made, .removeParticipant(.ana))
            }
            if number % 13 == 0 {
                try await sample.store.deleteConversation(made, in: sample.application)
            }
        }
        let all = try await sample.pages(100).items
        #expect(all.count == 498)
        let middle = all[250].conversation.createdAt
        let filters: [(inout ConversationFilter) -> Void] = [
            { $0.participants = [.bo] },
            { ($0.participants, $0.isExact) = ([.bo, .ana], true) },
            { $0.isDistinct = true },
            { ($0.metadata, $0.isDistinct) = ([.init(path: ["topic"], value: "keys")], false) },
            { $0.createdAfter = middle },
            { $0.createdBefore = middle },
            { ($0.createdAfter, $0.createdBefore) = (middle, middle.next) },
            { ($0.createdBefore, $0.participants) = (middle, [.cy]) },
            { $0.participants = [.named("unknown")] },
        ]
        for make in filters {
            var filter = ConversationFilter()
            make(&filter)
            let wanted = all.filter { item in
                filter.holds(
                    item.conversation.participants, isDistinct: item.conversation.isDistinct,
                    metadata: item.conversation.metadata.view,
                    createdAt: item.conversation.createdAt)
            }
            let found = try await sample.pages(67, filter)
            #expect(found.items == wanted, "\(filter)")
            #expect(found.totals == [Int64(wanted.count)])
            // A page can continue after any conversation, matching or not.
            for index in [0, 249, 250, 251, 497] {
                let page = try await sample.store.conversations(
                    matching: filter, after: all[index].conversation.id, limit: 5,
                    in: sample.application)
                let rest = all[(index + 1)...].filter(wanted.contains).prefix(5)
                #expect(page.items == Array(rest))
            }
        }
    }

    @Test func `X9: a filter checks at most 10,000 conversations, fewer with a time`() async throws
    {
        let sample = try await SampleApplication()
        try await sample.fill(conversations: ConversationFilter.limit + 1)
        var filter = ConversationFilter()
        filter.isDistinct = true
        await #expect(throws: Rejection.tooMany) {
            try await sample.store.conversations(
                matching: filter, limit: 1, in: sample.application)
        }
        filter.createdBefore = Timestamp(milliseconds: 10_001)
        #expect(try await sample.pages(1, filter).totals == [0])
    }

    @Test func `1_10: pages of large metadata end early`() async throws {
        let sample = try await SampleApplication()
        let leaf = MetadataTree.text(String(repeating: "x", count: 2048))
        let metadata = MetadataTree.object(
            (0..<100).map { number in MetadataTree.Member(key: "k\(number)", value: leaf) })
        var made: [Conversation.ID] = []
        for _ in 0..<45 {
            sample.tick()
            made.append(try await sample.conversation(metadata: metadata))
        }
        var filter = ConversationFilter()
        filter.participants = [.bo]
        for matching in [ConversationFilter(), filter] {
            let page = try await sample.store.conversations(
                matching: matching, limit: 100, in: sample.application)
            #expect(page.isCut && page.items.count < 25)
            #expect(
                try await sample.pages(100, matching).items.map(\.conversation.id)
                    == made.reversed())
        }
    }

    @Test func `a page is read as a range of an index`() async throws {
        let sample = try await SampleApplication()
        let cursor = CreationCursor<Conversation.ID>(time: Timestamp(milliseconds: 15_000), id: nil)
        try await sample.fill(conversations: 20_000)
        for cursor in [cursor, .top] {
            let plan = try await sample.plan(
                of: .conversations(after: cursor, limit: 101, in: sample.application))
            #expect(plan.contains("conversations_by_creation"), "\(plan)")
            for step in ["SCAN", "TEMP B-TREE", "Seq Scan", "Sort"] {
                #expect(!plan.contains(step), "\(plan)")
            }
        }
    }
}

extension SampleApplication {
    /// All pages of the list, and their totals.
    fileprivate func pages(
        _ size: Int, _ filter: ConversationFilter = ConversationFilter()
    ) async throws -> (items: [ConversationSnapshot], totals: Set<Int64>) {
        var (items, totals): ([ConversationSnapshot], Set<Int64>) = ([], [])
        while true {
            let page = try await store.conversations(
                matching: filter, after: items.last?.conversation.id, limit: size,
                in: application)
            totals.insert(page.total ?? -1)
            guard !page.items.isEmpty else { return (items, totals) }
            items += page.items
        }
    }

    /// Creates conversations without participants, one per millisecond.
    fileprivate func fill(conversations count: Int) async throws {
        let bare = Metadata().columnBytes
        try await database.write { [application] transaction in
            try transaction.execute(
                """
                INSERT INTO conversations (
                    application, id, created_at, is_distinct, is_announced, last_position,
                    message_count, metadata, version
                )
                WITH RECURSIVE numbers (n) AS (
                    SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count)
                )
                SELECT \(application.bytes), \(number: "n"), n, 0, 1, 0, 0, \(bare), 1 FROM numbers
                """)
            try transaction.execute("ANALYZE conversations")
        }
    }
}
