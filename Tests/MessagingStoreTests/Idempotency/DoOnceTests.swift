import Messaging
import SQL
import SystemSupport
import Testing

@testable import MessagingStore

@Suite struct `A request with a key` {
    private static let key = IdempotencyKey("order-4711") ?? .sample

    /// Creates a conversation under a key, as an endpoint does.
    private func create(
        in sample: SampleApplication, _ key: IdempotencyKey = Self.key,
        _ users: [UserID] = [.ana, .bo],
        saying text: String? = nil
    ) async throws -> IdempotentOutcome {
        let description = text ?? users.map(\.text).joined(separator: " ")
        return try await sample.store.doOnce(
            key, describedBy: [Array(description.utf8)], in: sample.application
        ) { [application = sample.application] store in
            let made = try await store.createConversation(
                Conversation.Draft(participants: users), in: application)
            return StoredResponse(
                status: 201, fields: [1, 2], body: made.object.conversation.id.bytes)
        }
    }

    private func count(in sample: SampleApplication) async throws -> Int {
        try await sample.database.read { transaction in
            try transaction.first("/* test */ SELECT COUNT(*) FROM idempotency_keys") {
                try $0.int(0)
            } ?? 0
        }
    }

    @Test func `is executed once, and a repeat gets the same response (X2)`() async throws {
        let sample = try await SampleApplication()
        guard case .done(let answer) = try await create(in: sample) else {
            Issue.record("The request was not executed.")
            return
        }
        let before = try await sample.rows()
        sample.tick()
        #expect(try await create(in: sample) == .replayed(answer))
        #expect(try await sample.rows() == before)
        // The created object can be read.
        let id = Conversation.ID(bytes: answer.body ?? [])
        let found = try await sample.store.conversation(#require(id), in: sample.application)
        #expect(found.conversation.id == id)
    }

    @Test func `that differs under the same key is rejected (X2)`() async throws {
        let sample = try await SampleApplication()
        _ = try await create(in: sample)
        await #expect(throws: Rejection.keyReused) { try await create(in: sample, saying: "else") }
        // Concatenated parts with other boundaries have another digest.
        let pieces: [[[UInt8]]] = [
            [[1, 2], [3]], [[1], [2, 3]], [[1, 2, 3], []], [[], [1, 2, 3]],
        ]
        let digests = pieces.map { pieces in
            IdempotentRequest(
                IdempotentRequest.Name(application: sample.application, user: nil, key: Self.key),
                describedBy: pieces,
                at: Timestamp(milliseconds: 0), hash: sample.store.environment.sha256
            ).digest
        }
        #expect(Set(digests).count == pieces.count)
    }

    @Test func `that fails changes nothing and leaves its key unused (ruling 12)`() async throws {
        let sample = try await SampleApplication()
        let before = try await sample.rows()
        struct Late: Error {}
        await #expect(throws: Late.self) {
            _ = try await sample.store.doOnce(Self.key, describedBy: [], in: sample.application) {
                [application = sample.application] store in
                _ = try await store.createConversation(
                    Conversation.Draft(participants: [.ana]), in: application)
                throw Late()
            }
        }
        #expect(try await sample.rows() == before)
        await #expect(throws: Rejection.notFound(.conversation)) {
            _ = try await sample.store.doOnce(Self.key, describedBy: [], in: sample.application) {
                [application = sample.application] store in
                _ = try await store.conversation(.sample(9), in: application)
                return StoredResponse(status: 200, fields: [], body: nil)
            }
        }
        let refused = try await sample.store.doOnce(
            Self.key, describedBy: [], in: sample.application
        ) { _ in
            StoredResponse(status: 409, fields: [], body: nil)
        }
        #expect(refused == .done(StoredResponse(status: 409, fields: [], body: nil)))
        #expect(try await count(in: sample) == 0)
        guard case .done = try await create(in: sample) else {
            Issue.record("The key is in use.")
            return
        }
    }

    @Test func `that changes nothing is replayed from its key too (X2)`() async throws {
        let sample = try await SampleApplication()
        for expected in [false, true] {
            let outcome = try await sample.store.doOnce(
                Self.key, describedBy: [], in: sample.application
            ) { _ in StoredResponse(status: 204, fields: [], body: nil) }
            let answer = StoredResponse(status: 204, fields: [], body: nil)
            #expect(outcome == (expected ? .replayed(answer) : .done(answer)))
        }
    }

    @Test func `is rejected while its first attempt is running (X2)`() async throws {
        let sample = try await SampleApplication()
        let name = IdempotentRequest.Name(application: sample.application, user: nil, key: Self.key)
        let running = IdempotentRequest(
            name, describedBy: [Array("ana bo".utf8)], at: sample.store.environment.now(),
            hash: sample.store.environment.sha256)
        try sample.store.runningRequests.begin(running)
        await #expect(throws: Rejection.inProgress) { try await create(in: sample) }
        await #expect(throws: Rejection.keyReused) { try await create(in: sample, saying: "else") }
        sample.store.runningRequests.end(running)
        guard case .done = try await create(in: sample) else {
            Issue.record("The key is in use.")
            return
        }
    }

    @Test func `is stored for a day, and not much longer (X2)`() async throws {
        let sample = try await SampleApplication()
        let first = try await create(in: sample)
        sample.wait(milliseconds: 86_399_999)
        guard case .done(let answer) = first else {
            Issue.record("The request was not executed.")
            return
        }
        #expect(try await create(in: sample) == .replayed(answer))
        sample.wait(milliseconds: 1)
        guard case .done(let other) = try await create(in: sample) else {
            Issue.record("The response is stored for more than a day.")
            return
        }
        #expect(other != answer)
        #expect(try await count(in: sample) == 1)
    }

    @Test func `deletes two expired responses for each new one (X2)`() async throws {
        let sample = try await SampleApplication()
        for number in 0..<10 {
            _ = try await create(in: sample, #require(IdempotencyKey("old-\(number)")), [.ana])
        }
        sample.wait(milliseconds: 2 * 86_400_000)
        var counts: [Int] = []
        for number in 0..<6 {
            _ = try await create(in: sample, #require(IdempotencyKey("new-\(number)")), [.ana])
            counts.append(try await count(in: sample))
        }
        #expect(counts == [9, 8, 7, 6, 5, 6])
    }

    @Test(.enabled(if: onSQLite)) func `looks up and deletes by index`() async throws {
        let sample = try await SampleApplication()
        let plans = try await sample.database.read {
            [application = sample.application] transaction in
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
    func `that leaves its transaction is rolled back`() async throws {
        let sample = try await SampleApplication()
        let before = try await sample.rows()
        let waiting = Locked<CheckedContinuation<Void, Never>?>(nil)
        let (ends, end) = AsyncStream.makeStream(of: StoreFault?.self)
        await #expect(throws: StoreFault.leftTransaction) {
            _ = try await sample.store.doOnce(Self.key, describedBy: [], in: sample.application) {
                [application = sample.application] store in
                _ = try await store.createConversation(
                    Conversation.Draft(participants: [.ana]), in: application)
                await withCheckedContinuation { wake in
                    waiting.withLock { waiting in waiting = wake }
                }
                // The transaction can no longer be used.
                do {
                    _ = try await store.conversation(.sample(1), in: application)
                } catch {
                    end.yield(error as? StoreFault)
                }
                return StoredResponse(status: 201, fields: [], body: nil)
            }
        }
        #expect(try await sample.rows() == before)
        waiting.withLock { waiting in waiting }?.resume()
        for await fault in ends {
            #expect(fault == .leftTransaction)
            break
        }
    }

    @Test func `executed outside of the database is replayed too (X2)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for number in 0..<2 {
            let outcome = try await sample.store.doOnceOutsideTransaction(
                Self.key, describedBy: [], in: sample.application
            ) { [application = sample.application] store in
                _ = try await store.conversation(conversation, in: application)
                try await Task.sleep(for: .milliseconds(1))
                return StoredResponse(status: 201, fields: [], body: [UInt8(number)])
            }
            let answer = StoredResponse(status: 201, fields: [], body: [0])
            #expect(outcome == (number == 0 ? .done(answer) : .replayed(answer)))
        }
        await #expect(throws: Rejection.keyReused) {
            _ = try await sample.store.doOnceOutsideTransaction(
                Self.key, describedBy: [[1]], in: sample.application
            ) {
                [application = sample.application] store in
                _ = try await store.conversation(conversation, in: application)
                return StoredResponse(status: 201, fields: [], body: nil)
            }
        }
    }

    @Test(arguments: 0..<5) func `does not affect other changes of its commit`(seed: Int)
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask { [self] in
                    switch number % 3 {
                    case 0: try await sample.send("plain \(number)", to: conversation)
                    case 1:
                        let key = IdempotencyKey("key-\(number)") ?? Self.key
                        _ = try await create(in: sample, key, [.cy])
                    default:
                        // Fails in its transaction, so that all others are run again without it.
                        await #expect(throws: Rejection.self) {
                            try await sample.send("lost", to: .sample(UInt128(number)))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await count(in: sample) == 20)
        let views = try await sample.store.conversations(
            of: .cy, limit: 100, in: sample.application)
        #expect(views.total == 20)
        #expect(try await sample.texts(of: conversation).count == 20)
    }
}

extension IdempotencyKey {
    /// A default for an invalid key, which is never reached.
    fileprivate static var sample: IdempotencyKey { fatalError("a valid key is rejected") }
}
