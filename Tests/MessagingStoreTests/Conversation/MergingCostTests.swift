import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `The cost of merging` {
    /// Merges two conversations whose messages alternate, and returns the rows and index entries read.
    private func rowsRead(merging count: Int) async throws -> Int64 {
        let sample = try await SampleApplication()
        let own = try await sample.create(isDistinct: true).object.conversation.id
        let other = try await sample.addDistinctConversation(7, createdAt: 5)
        let application = sample.application
        let read = try await sample.store.change(in: application) { context in
            let transaction = context.transaction
            for number in 0..<count {
                let id: Message.ID = .sample(UInt128(1_000 + number))
                let (home, place) = (number % 2 == 0 ? own : other, number / 2 + 1)
                try transaction.execute(
                    """
                    INSERT INTO messages (
                        application, id, conversation, position, sender_user, sent_at, version
                    ) VALUES (\(application), \(id), \(home), \(place), 'ana', \(number), 1)
                    """)
            }
            try transaction.execute(
                """
                /* test */ UPDATE conversations SET last_position = \(count / 2), message_count = \(count / 2)
                WHERE application = \(application)
                """)
            let before = onSQLite ? 0 : try transaction.rowsRead()
            try context.reconcile(other)
            try sample.inline(transaction) { store in
                // In steps of the same size, however long they take here.
                _ = try await store.sortMessages(of: other, in: application, taking: .seconds(600))
            }
            return onSQLite ? 0 : try transaction.rowsRead() - before
        }
        let ordered = try await sample.database.read { transaction in
            try transaction.rows(
                """
                SELECT sent_at FROM messages WHERE application = \(application)
                    AND conversation = \(other)
                ORDER BY position
                """
            ) { row in try row.int(0) }
        }
        #expect(ordered == Array(0..<count))
        return read
    }

    @Test func `doubles with twice the alternating messages`() async throws {
        let (once, twice) = (
            try await rowsRead(merging: 3_000), try await rowsRead(merging: 6_000)
        )
        #expect(twice <= once * 5 / 2, "\(once), then \(twice)")
    }

    @Test(.enabled(if: onSQLite)) func `looks up each message by its position`() async throws {
        let sample = try await SampleApplication()
        let (application, id) = (sample.application, Conversation.ID.sample(1))
        let statement = SQL.moving(
            [1, 2], to: [3, 4], of: id, into: id, changed: LogPosition(5), in: application)
        let plan = try await sample.database.read { transaction in
            try transaction.rows("EXPLAIN QUERY PLAN \(statement)") { row in
                try row.text("detail")
            }
        }
        #expect(
            plan.contains { step in
                step.hasPrefix("SEARCH messages")
                    && step.contains("(application=? AND conversation=? AND position=?)")
            }, "\(plan)")
    }
}
