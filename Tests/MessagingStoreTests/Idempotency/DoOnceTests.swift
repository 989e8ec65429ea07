import Locking
import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `A request with a key` {
    private static let key = IdempotencyKey("order-4711") ?? .sample

    /// What a door would make of a creation.
    private func create(
        in shop: Shop, _ key: IdempotencyKey = Self.key, _ users: [UserID] = [.ana, .bo],
        saying text: String? = nil
    ) async throws -> KeyedOutcome {
        let asked = text ?? users.map(\.text).joined(separator: " ")
        return try await shop.store.doOnce(
            key, saying: [Array(asked.utf8)], in: shop.application
        ) { [application = shop.application] store in
            let made = try await store.createConversation(
                Conversation.Draft(participants: users), in: application)
            return KeptAnswer(
                status: 201, fields: [1, 2], body: made.object.conversation.id.bytes)
        }
    }

    private func count(in shop: Shop) async throws -> Int {
        try await shop.database.read { transaction in
            try transaction.first("SELECT COUNT(*) FROM idempotency_keys") { try $0.int(0) } ?? 0
        }
    }

    @Test func `is done once, and answered as before (X2)`() async throws {
        let shop = try await Shop()
        guard case .done(let answer) = try await create(in: shop) else {
            Issue.record("not done")
            return
        }
        let before = try await shop.rows()
        shop.tick()
        #expect(try await create(in: shop) == .replayed(answer))
        #expect(try await shop.rows() == before)
        // Whoever reads what he has made finds it.
        let id = Conversation.ID(bytes: answer.body ?? [])
        let found = try await shop.store.conversation(#require(id), in: shop.application)
        #expect(found.conversation.id == id)
    }

    @Test func `with anything else under the same key is refused (X2)`() async throws {
        let shop = try await Shop()
        _ = try await create(in: shop)
        await #expect(throws: Rejection.keyReused) { try await create(in: shop, saying: "else") }
        // No piece passes for the end of another.
        let pieces: [[[UInt8]]] = [
            [[1, 2], [3]], [[1], [2, 3]], [[1, 2, 3], []], [[], [1, 2, 3]],
        ]
        let digests = pieces.map { pieces in
            KeyedRequest(
                KeyedRequest.Name(application: shop.application, key: Self.key), saying: pieces,
                at: Timestamp(milliseconds: 0), hash: shop.store.environment.sha256
            ).digest
        }
        #expect(Set(digests).count == pieces.count)
    }

    @Test func `that fails leaves nothing and its key free (ruling 12)`() async throws {
        let shop = try await Shop()
        let before = try await shop.rows()
        struct Late: Error {}
        await #expect(throws: Late.self) {
            _ = try await shop.store.doOnce(Self.key, saying: [], in: shop.application) {
                [application = shop.application] store in
                _ = try await store.createConversation(
                    Conversation.Draft(participants: [.ana]), in: application)
                throw Late()
            }
        }
        #expect(try await shop.rows() == before)
        await #expect(throws: Rejection.notFound(.conversation)) {
            _ = try await shop.store.doOnce(Self.key, saying: [], in: shop.application) {
                [application = shop.application] store in
                _ = try await store.conversation(.sample(9), in: application)
                return KeptAnswer(status: 200, fields: [], body: nil)
            }
        }
        let refused = try await shop.store.doOnce(Self.key, saying: [], in: shop.application) { _ in
            KeptAnswer(status: 409, fields: [], body: nil)
        }
        #expect(refused == .done(KeptAnswer(status: 409, fields: [], body: nil)))
        #expect(try await count(in: shop) == 0)
        guard case .done = try await create(in: shop) else {
            Issue.record("the key is taken")
            return
        }
    }

    @Test func `that changes nothing is answered from its key all the same (X2)`() async throws {
        let shop = try await Shop()
        for expected in [false, true] {
            let outcome = try await shop.store.doOnce(
                Self.key, saying: [], in: shop.application
            ) { _ in KeptAnswer(status: 204, fields: [], body: nil) }
            let answer = KeptAnswer(status: 204, fields: [], body: nil)
            #expect(outcome == (expected ? .replayed(answer) : .done(answer)))
        }
    }

    @Test func `is told that its first try is still under way (X2)`() async throws {
        let shop = try await Shop()
        let name = KeyedRequest.Name(application: shop.application, key: Self.key)
        let running = KeyedRequest(
            name, saying: [Array("ana bo".utf8)], at: shop.store.environment.now(),
            hash: shop.store.environment.sha256)
        try shop.store.runningKeys.begin(running)
        await #expect(throws: Rejection.inProgress) { try await create(in: shop) }
        await #expect(throws: Rejection.keyReused) { try await create(in: shop, saying: "else") }
        shop.store.runningKeys.end(running)
        guard case .done = try await create(in: shop) else {
            Issue.record("the key is taken")
            return
        }
    }

    @Test func `is remembered for a day, and not much longer (X2)`() async throws {
        let shop = try await Shop()
        let first = try await create(in: shop)
        shop.wait(milliseconds: 86_399_999)
        guard case .done(let answer) = first else {
            Issue.record("not done")
            return
        }
        #expect(try await create(in: shop) == .replayed(answer))
        shop.wait(milliseconds: 1)
        guard case .done(let other) = try await create(in: shop) else {
            Issue.record("remembered after a day")
            return
        }
        #expect(other != answer)
        #expect(try await count(in: shop) == 1)
    }

    @Test func `lets go of two old ones for each that comes (X2)`() async throws {
        let shop = try await Shop()
        for number in 0..<10 {
            _ = try await create(in: shop, #require(IdempotencyKey("old-\(number)")), [.ana])
        }
        shop.wait(milliseconds: 2 * 86_400_000)
        var counts: [Int] = []
        for number in 0..<6 {
            _ = try await create(in: shop, #require(IdempotencyKey("new-\(number)")), [.ana])
            counts.append(try await count(in: shop))
        }
        #expect(counts == [9, 8, 7, 6, 5, 6])
    }

    @Test(.enabled(if: onSQLite)) func `looks and lets go by index`() async throws {
        let shop = try await Shop()
        let plans = try await shop.database.read { [application = shop.application] transaction in
            try transaction.rows(
                """
                EXPLAIN QUERY PLAN DELETE FROM idempotency_keys
                WHERE application = \(application) AND idempotency_key IN (
                    SELECT idempotency_key FROM idempotency_keys
                    WHERE application = \(application) AND kept_at <= \(5)
                    ORDER BY kept_at LIMIT 2
                )
                """
            ) { row in try row.text("detail") }
        }
        #expect(plans.allSatisfy { plan in !plan.contains("SCAN") && !plan.contains("TEMP") })
        #expect(plans.contains { plan in plan.contains("idempotency_keys_by_age") })
    }

    @Test(.timeLimit(.minutes(10)))
    func `that waits for something else is undone and does no harm`() async throws {
        let shop = try await Shop()
        let before = try await shop.rows()
        let waiting = Locked<CheckedContinuation<Void, Never>?>(nil)
        let (ends, end) = AsyncStream.makeStream(of: StoreFault?.self)
        await #expect(throws: StoreFault.strayed) {
            _ = try await shop.store.doOnce(Self.key, saying: [], in: shop.application) {
                [application = shop.application] store in
                _ = try await store.createConversation(
                    Conversation.Draft(participants: [.ana]), in: application)
                await withCheckedContinuation { wake in
                    waiting.withLock { waiting in waiting = wake }
                }
                // Nobody may touch the transaction any more.
                do {
                    _ = try await store.conversation(.sample(1), in: application)
                } catch {
                    end.yield(error as? StoreFault)
                }
                return KeptAnswer(status: 201, fields: [], body: nil)
            }
        }
        #expect(try await shop.rows() == before)
        waiting.withLock { waiting in waiting }?.resume()
        for await fault in ends {
            #expect(fault == .strayed)
            break
        }
    }

    @Test func `done outside of the database is answered once as well (X2)`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        for number in 0..<2 {
            let outcome = try await shop.store.doOnceOutside(
                Self.key, saying: [], in: shop.application
            ) { [application = shop.application] store in
                _ = try await store.conversation(conversation, in: application)
                try await Task.sleep(for: .milliseconds(1))
                return KeptAnswer(status: 201, fields: [], body: [UInt8(number)])
            }
            let answer = KeptAnswer(status: 201, fields: [], body: [0])
            #expect(outcome == (number == 0 ? .done(answer) : .replayed(answer)))
        }
        await #expect(throws: Rejection.keyReused) {
            _ = try await shop.store.doOnceOutside(Self.key, saying: [[1]], in: shop.application) {
                [application = shop.application] store in
                _ = try await store.conversation(conversation, in: application)
                return KeptAnswer(status: 201, fields: [], body: nil)
            }
        }
    }

    @Test(arguments: 0..<5) func `does not disturb who shares its commit`(seed: Int) async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask { [self] in
                    switch number % 3 {
                    case 0: try await shop.send("plain \(number)", to: conversation)
                    case 1:
                        let key = IdempotencyKey("key-\(number)") ?? Self.key
                        _ = try await create(in: shop, key, [.cy])
                    default:
                        // Fails within its transaction: all others are run again without it.
                        await #expect(throws: Rejection.self) {
                            try await shop.send("lost", to: .sample(UInt128(number)))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await count(in: shop) == 20)
        let views = try await shop.store.conversations(
            of: .cy, limit: 100, in: shop.application)
        #expect(views.total == 20)
        #expect(try await shop.texts(of: conversation).count == 20)
    }
}

extension IdempotencyKey {
    /// Never reached: the key above is legal.
    fileprivate static var sample: IdempotencyKey { fatalError("a legal key is refused") }
}
