import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Blocking` {
    @Test func `a list belongs to its owner, directed and idempotent (R30)`() async throws {
        let sample = try await SampleApplication()
        let kinds = try await sample.kinds {
            try await sample.patch(.ana, .block(.bo))
            try await sample.patch(.ana, .block(.bo))
        }
        #expect(kinds == ["blocks.changed"])
        #expect(try await sample.blocks(of: .ana) == [.bo])
        #expect(try await sample.blocks(of: .bo) == [])
    }

    @Test func `it may contain unknown users and its owner (R30)`() async throws {
        let sample = try await SampleApplication()
        try await sample.patch(.ana, .block(.named("unknown")), .block(.ana))
        #expect(try await sample.blocks(of: .ana) == [.ana, .named("unknown")])
    }

    @Test func `unblocking a user who is not blocked records no event (R30)`() async throws {
        let sample = try await SampleApplication()
        let kinds = try await sample.kinds { try await sample.patch(.ana, .unblock(.bo)) }
        #expect(kinds == [])
        #expect(try await sample.blocks(of: .ana) == [])
    }

    @Test func `operations are applied in order and recorded as one (R34)`() async throws {
        let sample = try await SampleApplication()
        try await sample.patch(.ana, .block(.bo), .block(.cy))
        let kinds = try await sample.kinds {
            try await sample.patch(
                .ana, .unblock(.bo), .block(.named("dee")), .setBlocks([.cy, .named("ed")]),
                .unblock(.named("ed")), .block(.named("fay")))
        }
        #expect(kinds == ["blocks.changed"])
        #expect(try await sample.blocks(of: .ana) == [.cy, .named("fay")])
        // A user blocked and unblocked within the patch has not changed.
        let change = BlocksChanged(
            owner: .ana, added: [.named("fay")], removed: [.bo], at: sample.store.environment.now())
        #expect(try await sample.events().last?.event == .blocksChanged(change))
    }

    @Test func `a patch without effect records no event`() async throws {
        let sample = try await SampleApplication()
        try await sample.patch(.ana, .block(.bo))
        let kinds = try await sample.kinds {
            try await sample.patch(.ana, .setBlocks([]), .block(.cy), .setBlocks([.bo]))
        }
        #expect(kinds == [])
    }

    @Test func `a list of thousands is replaced at once`() async throws {
        let sample = try await SampleApplication()
        let many = (10_000..<13_000).map { number in UserID.named("u\(number)") }
        try await sample.patch(.ana, .setBlocks(many))
        #expect(try await sample.blocks(of: .ana) == many)
        try await sample.store.patchUser(
            .ana, many.dropFirst().map { user in .unblock(user) }, in: sample.application)
        #expect(try await sample.blocks(of: .ana) == [many[0]])
    }

    @Test func `names are compared by their bytes (ruling 7)`() async throws {
        let sample = try await SampleApplication()
        let (one, two) = (UserID.named("\u{E9}"), UserID.named("e\u{301}"))
        try await sample.patch(.ana, .block(one), .unblock(two))
        #expect(try await sample.blocks(of: .ana) == [one])
    }

    @Test(.enabled(if: onSQLite)) func `both directions are looked up in an index`() async throws {
        let sample = try await SampleApplication()
        let plans = try await sample.database.read { transaction in
            try transaction.rows(
                """
                EXPLAIN QUERY PLAN
                SELECT 1 FROM blocks WHERE application = \([0]) AND owner = \("a")
                UNION ALL SELECT 1 FROM blocks WHERE application = \([0]) AND blocked = \("a")
                """
            ) { row in try row.text("detail") }
        }
        #expect(plans.contains { plan in plan.contains("blocks_by_owner") })
        #expect(plans.contains { plan in plan.contains("blocks_by_blocked") })
    }
}

extension SampleApplication {
    func patch(_ user: UserID, _ patches: UserPatch...) async throws {
        try await store.patchUser(user, patches, in: application)
    }

    func blocks(of user: UserID) async throws -> [UserID] {
        try await store.blocks(of: user, in: application).map(\.userID)
    }
}
