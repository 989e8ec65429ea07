import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `An application's users` {
    @Test func `ruling 37: newest first, equal times by the bytes of the id, paged and counted`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.conversation([.named("b"), .named("é"), .named("B"), .named("a")])
        sample.tick()
        try await sample.conversation([.named("a"), .named("z")])
        sample.tick()
        try await sample.store.replaceIdentity(
            Identity(userID: .named("c"), displayName: "C"), in: sample.application)
        for size in 1...7 {
            let found = try await sample.pages(size)
            #expect(found.items.map(\.id.text) == ["c", "z", "é", "b", "a", "B"])
            #expect(found.totals == [6])
        }
        let single = try await sample.store.user(.named("c"), in: sample.application)
        #expect(try await sample.pages(1).items.first == single)
        try await sample.expectSameRowsAgain()
    }

    @Test func `R90: a user is created once, by the first event that names the user`() async throws
    {
        let sample = try await SampleApplication()
        func added(_ act: () async throws -> Void) async throws -> [String] {
            let before = Set(try await sample.pages(100).items.map(\.id))
            for _ in 1...2 {
                sample.tick()
                try await act()
            }
            let found = try await sample.pages(100)
            #expect(found.totals == [Int64(found.items.count)])
            let added = found.items.map(\.id).filter { user in !before.contains(user) }
            #expect(Array(found.items.map(\.id).prefix(added.count)) == added)
            return added.map(\.text).sorted()
        }
        let store = sample.store, application = sample.application
        let conversation = try await sample.conversation([.ana])
        #expect(
            try await added { try await sample.conversation([.ana, .bo, .cy]) } == ["bo", "cy"])
        #expect(
            try await added {
                try await sample.patch(conversation, .addParticipant(.named("d")))
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
            try await added { try await sample.patch(.named("h"), .block(.named("i"))) } == [
                "h", "i",
            ])
        #expect(try await added { try await sample.announce(to: [.named("j"), .ana]) } == ["j"])
        #expect(
            try await added {
                try await store.patchUser(
                    .named("k"), [.suspend(true)], in: application)
            } == ["k"])
        // The first version is one, however the user was created (X4).
        let versions = try await sample.pages(100).items.map(\.identityVersion)
        #expect(versions.filter { version in version == 1 }.count == 10)
        try await sample.expectSameRowsAgain()
    }

    @Test func `ruling 17: a page after an unknown user is not found`() async throws {
        let sample = try await SampleApplication()
        let other = try await SampleApplication(beside: sample)
        try await sample.conversation([.ana])
        try await other.conversation([.bo])
        var filter = UserFilter()
        for _ in 1...2 {
            for user in [UserID.bo, .named("Ana")] {
                await #expect(throws: Rejection.notFound(.user)) {
                    try await sample.store.users(
                        matching: filter, after: user, limit: 1, in: sample.application)
                }
            }
            filter.isSuspended = false
        }
    }

    @Test func `X9: matches of a filter are paged and counted`() async throws {
        let sample = try await SampleApplication()
        for number in 0..<600 {
            if number % 4 == 0 { sample.tick() }
            let user = UserID.named("user-\(number)")
            try await sample.conversation([user])
            if number % 3 == 0 {
                try await sample.store.replaceIdentity(
                    Identity(userID: user, displayName: "ÄNNE \(number % 7)"),
                    in: sample.application)
            }
            if number % 5 == 0 {
                try await sample.store.patchUser(
                    user, [.suspend(true)], in: sample.application)
            }
        }
        let all = try await sample.pages(100).items
        func number(_ user: User) -> Int { Int(user.id.text.dropFirst(5)) ?? -1 }
        let middle = Timestamp(milliseconds: 1_000_000 + 76_000)
        let filters: [((inout UserFilter) -> Void, (Int) -> Bool)] = [
            ({ $0.isSuspended = true }, { $0 % 5 == 0 }),
            ({ $0.isSuspended = false }, { $0 % 5 != 0 }),
            ({ $0.text = SearchText("ER-59") }, { $0 == 59 || $0 >= 590 }),
            ({ $0.text = SearchText("änne 3") }, { $0 % 3 == 0 && $0 % 7 == 3 }),
            ({ $0.text = SearchText("absent") }, { _ in false }),
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
            let found = try await sample.pages(67, filter)
            #expect(found.items == wanted, "\(filter)")
            #expect(found.totals == [Int64(wanted.count)])
        }
    }

    @Test func `X9: a filter checks at most 10,000 users, and a page is a range of an index`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.fill(users: 20_000)
        var filter = UserFilter()
        filter.text = SearchText("x")
        await #expect(throws: Rejection.tooMany) {
            try await sample.store.users(matching: filter, limit: 1, in: sample.application)
        }
        filter.createdBefore = Timestamp(milliseconds: 10_001)
        #expect(try await sample.pages(1, filter).totals == [0])
        let middle = CreationCursor<UserID>(time: Timestamp(milliseconds: 15_000), id: .ana)
        for cursor in [middle, .top] {
            let plan = try await sample.plan(
                of: .users(after: cursor, limit: 101, in: sample.application))
            #expect(plan.contains("identities_by_creation"), "\(plan)")
            for step in ["SCAN", "TEMP B-TREE", "Seq Scan", "Sort"] {
                #expect(!plan.contains(step), "\(plan)")
            }
        }
    }

    @Test func `1_10: pages of large identities end early`() async throws {
        let sample = try await SampleApplication()
        for number in 10..<20 {
            sample.tick()
            var identity = Identity(userID: .named("u\(number)"), displayName: "U")
            identity[.publicKey] = String(repeating: "k", count: 900 << 10)
            _ = try await sample.store.createIdentity(identity, in: sample.application)
        }
        var filter = UserFilter()
        filter.text = SearchText("U")
        for matching in [UserFilter(), filter] {
            let page = try await sample.store.users(
                matching: matching, limit: 100, in: sample.application)
            #expect(page.isCut && page.items.count == 4)
            #expect(try await sample.pages(100, matching).items.count == 10)
        }
    }

    @Test func `X10: an import keeps the creation times of users`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([.ana, .bo])
        sample.tick()
        try await sample.conversation([.cy])
        let copy = try await SampleApplication(opening: sample.application, isEmpty: true)
        copy.wait(milliseconds: 1_000_000)
        try await copy.importLines(try await sample.exportedLines())
        #expect(try await copy.pages(10).items.map(\.id) == [.cy, .bo, .ana])
        #expect(try await copy.exportedLines() == sample.exportedLines())
        try await copy.expectSameRowsAgain()
    }

    @Test func `X10: an existing user keeps the earlier creation time`() async throws {
        let sample = try await SampleApplication()
        for user in ["a", "b", "c", "d"] {
            sample.tick()
            try await sample.conversation([.named(user)])
        }
        let lines =
            [("a", 1_003_500), ("c", 1_000_500), ("e", nil)]
            as [(String, Int64?)]
        for (user, moment) in lines {
            let record = ArchivedUser(
                User(
                    identity: Identity(userID: .named(user), displayName: "X"),
                    identityStatus: .provided,
                    identityVersion: 1, isSuspended: false, sessionsEndedAt: nil),
                externalUnreadCount: 0,
                createdAt: moment.map(Timestamp.init(milliseconds:)))
            try await sample.store.importRecords(
                [.record(.user(record))], in: sample.application)
        }
        #expect(try await sample.pages(10).items.map(\.id.text) == ["e", "d", "b", "a", "c"])
        try await sample.expectSameRowsAgain()
    }
}

extension SampleApplication {
    /// All pages of the list, and their totals.
    fileprivate func pages(
        _ size: Int, _ filter: UserFilter = UserFilter()
    ) async throws -> (items: [User], totals: Set<Int64>) {
        var (items, totals): ([User], Set<Int64>) = ([], [])
        while true {
            let page = try await store.users(
                matching: filter, after: items.last?.id, limit: size, in: application)
            totals.insert(page.total ?? -1)
            guard !page.items.isEmpty else { return (items, totals) }
            items += page.items
        }
    }

    /// Creates users, one per millisecond.
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
