import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `An application's users` {
    @Test func `ruling 37: newest first, equal times by the bytes of the id, paged and counted`()
        async throws
    {
        let shop = try await Shop()
        try await shop.conversation([.named("b"), .named("é"), .named("B"), .named("a")])
        shop.tick()
        try await shop.conversation([.named("a"), .named("z")])
        shop.tick()
        try await shop.store.replaceIdentity(
            Identity(userID: .named("c"), displayName: "C"), in: shop.application)
        for size in 1...7 {
            let found = try await shop.pages(size)
            #expect(found.items.map(\.id.text) == ["c", "z", "é", "b", "a", "B"])
            #expect(found.totals == [6])
        }
        let single = try await shop.store.user(.named("c"), in: shop.application)
        #expect(try await shop.pages(1).items.first == single)
        try await shop.expectSameRowsAgain()
    }

    @Test func `R90: whoever names a user first creates them, once`() async throws {
        let shop = try await Shop()
        func added(_ act: () async throws -> Void) async throws -> [String] {
            let before = Set(try await shop.pages(100).items.map(\.id))
            for _ in 1...2 {
                shop.tick()
                try await act()
            }
            let found = try await shop.pages(100)
            #expect(found.totals == [Int64(found.items.count)])
            let added = found.items.map(\.id).filter { user in !before.contains(user) }
            #expect(Array(found.items.map(\.id).prefix(added.count)) == added)
            return added.map(\.text).sorted()
        }
        let store = shop.store, application = shop.application
        let conversation = try await shop.conversation([.ana])
        #expect(try await added { try await shop.conversation([.ana, .bo, .cy]) } == ["bo", "cy"])
        #expect(
            try await added {
                try await shop.patch(conversation, .addParticipant(.named("d")))
            } == ["d"])
        #expect(
            try await added {
                try await store.replaceIdentity(
                    Identity(userID: .named("e"), displayName: "E"), in: application)
            } == ["e"])
        #expect(
            try await added {
                try? await store.deleteIdentity(of: .named("e"), in: application)
            } == [])
        #expect(
            try await added {
                try await store.follow([.named("f"), .named("g")], by: .ana, in: application)
            } == ["f", "g"])
        #expect(
            try await added { try await shop.patch(.named("h"), .block(.named("i"))) } == [
                "h", "i",
            ])
        #expect(try await added { try await shop.announce(to: [.named("j"), .ana]) } == ["j"])
        #expect(
            try await added {
                try await store.patchUser(
                    .named("k"), [.suspend(true)], in: application)
            } == ["k"])
        // A version begins with one, however the user came to be (X4).
        let versions = try await shop.pages(100).items.map(\.identityVersion)
        #expect(versions.filter { version in version == 1 }.count == 10)
        try await shop.expectSameRowsAgain()
    }

    @Test func `ruling 17: a page after a user who was never named is not found`() async throws {
        let shop = try await Shop()
        let other = try await Shop(at: shop.location)
        try await shop.conversation([.ana])
        try await other.conversation([.bo])
        var filter = UserFilter()
        for _ in 1...2 {
            for user in [UserID.bo, .named("Ana")] {
                await #expect(throws: Rejection.notFound(.user)) {
                    try await shop.store.users(
                        matching: filter, after: user, limit: 1, in: shop.application)
                }
            }
            filter.isSuspended = false
        }
    }

    @Test func `X9: what passes a filter is paged and counted`() async throws {
        let shop = try await Shop()
        for number in 0..<600 {
            if number % 4 == 0 { shop.tick() }
            let user = UserID.named("user-\(number)")
            try await shop.conversation([user])
            if number % 3 == 0 {
                try await shop.store.replaceIdentity(
                    Identity(userID: user, displayName: "ÄNNE \(number % 7)"), in: shop.application)
            }
            if number % 5 == 0 {
                try await shop.store.patchUser(
                    user, [.suspend(true)], in: shop.application)
            }
        }
        let all = try await shop.pages(100).items
        func number(_ user: User) -> Int { Int(user.id.text.dropFirst(5)) ?? -1 }
        let middle = Timestamp(milliseconds: 1_000_000 + 76_000)
        let filters: [((inout UserFilter) -> Void, (Int) -> Bool)] = [
            ({ $0.isSuspended = true }, { $0 % 5 == 0 }),
            ({ $0.isSuspended = false }, { $0 % 5 != 0 }),
            ({ $0.text = SearchText("ER-59") }, { $0 == 59 || $0 >= 590 }),
            ({ $0.text = SearchText("änne 3") }, { $0 % 3 == 0 && $0 % 7 == 3 }),
            ({ $0.text = SearchText("nobody") }, { _ in false }),
            ({ $0.createdBefore = middle }, { $0 / 4 + 1 < 76 }),
            ({ $0.createdAfter = middle }, { $0 / 4 + 1 > 76 }),
            (
                { ($0.createdBefore, $0.isSuspended) = (middle, true) },
                { $0 / 4 + 1 < 76 && $0 % 5 == 0 }
            ),
        ]
        for (make, passes) in filters {
            var filter = UserFilter()
            make(&filter)
            let wanted = all.filter { user in passes(number(user)) }
            let found = try await shop.pages(67, filter)
            #expect(found.items == wanted, "\(filter)")
            #expect(found.totals == [Int64(wanted.count)])
        }
    }

    @Test func `X9: a filter checks at most 10,000, and a page is a range of an index`()
        async throws
    {
        let shop = try await Shop()
        try await shop.fill(users: 20_000)
        var filter = UserFilter()
        filter.text = SearchText("x")
        await #expect(throws: Rejection.tooMany) {
            try await shop.store.users(matching: filter, limit: 1, in: shop.application)
        }
        filter.createdBefore = Timestamp(milliseconds: 10_001)
        #expect(try await shop.pages(1, filter).totals == [0])
        let middle = CreationPlace<UserID>(time: Timestamp(milliseconds: 15_000), id: .ana)
        for place in [middle, .top] {
            let plan = try await shop.plan(
                of: .users(after: place, limit: 101, in: shop.application))
            #expect(plan.contains("identities_by_creation"), "\(plan)")
            for step in ["SCAN", "TEMP B-TREE", "Seq Scan", "Sort"] {
                #expect(!plan.contains(step), "\(plan)")
            }
        }
    }

    @Test func `1_10: pages of large identities end early`() async throws {
        let shop = try await Shop()
        for number in 10..<20 {
            shop.tick()
            var identity = Identity(userID: .named("u\(number)"), displayName: "U")
            identity[.publicKey] = String(repeating: "k", count: 900 << 10)
            _ = try await shop.store.createIdentity(identity, in: shop.application)
        }
        var filter = UserFilter()
        filter.text = SearchText("U")
        for matching in [UserFilter(), filter] {
            let page = try await shop.store.users(
                matching: matching, limit: 100, in: shop.application)
            #expect(page.isCut && page.items.count == 4)
            #expect(try await shop.pages(100, matching).items.count == 10)
        }
    }

    @Test func `X10: an import keeps when users were first named`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.ana, .bo])
        shop.tick()
        try await shop.conversation([.cy])
        let copy = try await Shop(opening: shop.application, isEmpty: true)
        copy.wait(milliseconds: 1_000_000)
        try await copy.take(try await shop.lines())
        #expect(try await copy.pages(10).items.map(\.id) == [.cy, .bo, .ana])
        #expect(try await copy.lines() == shop.lines())
        try await copy.expectSameRowsAgain()
    }

    @Test func `X10: a user who is there keeps the earlier moment`() async throws {
        let shop = try await Shop()
        for user in ["a", "b", "c", "d"] {
            shop.tick()
            try await shop.conversation([.named(user)])
        }
        let lines =
            [("a", 1_003_500), ("c", 1_000_500), ("e", nil)]
            as [(String, Int64?)]
        for (user, moment) in lines {
            let record = MovedUser(
                User(
                    identity: Identity(userID: .named(user), displayName: "X"), standing: .told,
                    identityVersion: 1, isSuspended: false, sessionsEndedAt: nil),
                externalUnreadCount: 0,
                createdAt: moment.map(Timestamp.init(milliseconds:)))
            _ = try await shop.store.bring([.record(.user(record))], in: shop.application)
        }
        #expect(try await shop.pages(10).items.map(\.id.text) == ["e", "d", "b", "a", "c"])
        try await shop.expectSameRowsAgain()
    }

    @Test func `an older database counts, and users are as old as their oldest conversation`()
        async throws
    {
        let folder = TemporaryFolder()
        let old = try Database.open(
            folder.database,
            migrations: Schema.migrations.filter { migration in
                migration.number < SchemaMigration.lists.number
            })
        let application = Application.ID.sample(9)
        try await old.write { transaction in
            try transaction.execute(
                """
                INSERT INTO applications (application, name, created_at, is_suspended)
                VALUES (\(application.bytes), 'Shop', 50, 0)
                """)
            for (id, deletedAt) in [(1, nil), (2, 7), (3, nil)] as [(UInt128, Int64?)] {
                try transaction.execute(
                    """
                    INSERT INTO conversations (
                        application, id, created_at, is_distinct, is_announced, deleted_at,
                        last_position, message_count, metadata, version
                    ) VALUES (
                        \(application.bytes), \(Conversation.ID.sample(id).bytes), 5, 0, 1,
                        \(deletedAt), 0, 0, \(Metadata().columnBytes), 1
                    )
                    """)
            }
            for (user, moments) in [("ana", [70, 60]), ("bo", [80]), ("cy", [])]
                as [(String, [Int64])]
            {
                try transaction.execute(
                    """
                    INSERT INTO identities (application, user_id, kind, conversation_count)
                    VALUES (\(application.bytes), \(user), 'user', 0)
                    """)
                for moment in moments {
                    try transaction.execute(
                        """
                        INSERT INTO participants (
                            application, conversation, user_id, place, past, joined_after,
                            conversation_created_at
                        ) VALUES (
                            \(application.bytes), \([UInt8(moment)]), \(user), 0, '', 0, \(moment)
                        )
                        """)
                }
            }
        }
        old.close()
        let shop = try await Shop(at: folder.database, opening: application, isEmpty: true)
        let users = try await shop.pages(2)
        #expect(users.items.map(\.id) == [.bo, .ana, .cy])
        #expect(users.totals == [3])
        let page = try await shop.store.conversations(limit: 5, in: application)
        #expect(page.items.map(\.conversation.id) == [.sample(3), .sample(1)])
        #expect(page.total == 2)
    }
}

extension Shop {
    /// All pages of the list, and the totals that they name.
    fileprivate func pages(
        _ size: Int, _ filter: UserFilter = UserFilter()
    ) async throws -> (items: [User], totals: Set<Int64>) {
        var (items, totals): ([User], Set<Int64>) = ([], [])
        while true {
            let page = try await store.users(
                matching: filter, after: items.last?.id, limit: size, in: application)
            totals.insert(page.total)
            guard !page.items.isEmpty else { return (items, totals) }
            items += page.items
        }
    }

    /// Users who were first named one a millisecond.
    fileprivate func fill(users count: Int) async throws {
        try await database.write { [application] transaction in
            try transaction.execute(
                """
                INSERT INTO identities (
                    application, user_id, kind, conversation_count, created_at
                )
                WITH RECURSIVE numbers (n) AS (
                    SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count)
                )
                SELECT \(application.bytes), 'user-' || n, 'user', 0, n FROM numbers
                """)
            try transaction.execute("ANALYZE identities")
        }
    }
}
