import Messaging
import SQLPostgres
import TestSupport
import Testing

@testable import MessagingStore
@testable import SQL

/// PostgreSQL plans by statistics, which are missing or old while an application grows: what a statement reads must
/// not depend on them. SQLite keeps none.
@Suite(.enabled(if: !onSQLite)) struct `Statements of a large application` {
    /// When the tables were analysed.
    enum Statistics: CaseIterable {
        case never, empty, atHundredRows, full
    }

    /// The rows and index entries that each operation reads. No operation is committed, because the tables would then
    /// be analysed as they have grown.
    private func reads(analysed statistics: Statistics) async throws -> [String: Int64] {
        let sample = try await SampleApplication(at: .server(PostgresServer.shared.newSchema()))
        let large = LargeApplication(sample)
        return try await sample.database.write { transaction in
            let tables = try transaction.tables()
            for table in tables {
                try transaction.execute(
                    SQL(stringLiteral: "ALTER TABLE \(table) SET (autovacuum_enabled = false)"))
            }
            // Without names, the statement would analyse the tables of other tests, too.
            let analysis = SQL(stringLiteral: "ANALYZE \(tables.joined(separator: ", "))")
            if statistics == .empty { try transaction.execute(analysis) }
            try large.insert(0..<100, on: transaction)
            if statistics == .atHundredRows { try transaction.execute(analysis) }
            try large.insert(100..<LargeApplication.size, on: transaction)
            if statistics == .full { try transaction.execute(analysis) }
            var reads: [String: Int64] = [:]
            for operation in LargeApplication.operations {
                try large.writeAll(on: transaction)
                let before = try transaction.rowsRead()
                try operation.run(large, transaction)
                try large.writeAll(on: transaction)
                reads[operation.name] = try transaction.rowsRead() - before
            }
            return reads
        }
    }

    @Test func `read the same rows, whatever statistics PostgreSQL has`() async throws {
        var all: [Statistics: [String: Int64]] = [:]
        for statistics in Statistics.allCases {
            all[statistics] = try await reads(analysed: statistics)
        }
        for operation in LargeApplication.operations {
            let states = operation.needsStatistics ? [.atHundredRows, .full] : Statistics.allCases
            let counts = states.map { state in all[state]?[operation.name] ?? 0 }
            let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
            #expect(least > 0 && most <= 2 * least, "\(operation.name): \(counts)")
        }
    }
}

extension Transaction {
    /// The rows and index entries that this transaction has read.
    func rowsRead() throws -> Int64 {
        try first(
            """
            SELECT CAST(SUM(
                pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)
            ) AS BIGINT)
            FROM pg_class WHERE relnamespace = (
                SELECT oid FROM pg_namespace WHERE nspname = current_schema()
            )
            """
        ) { row in try row.int64(0) } ?? 0
    }
}

/// As many users as conversations, each of two users; one user takes part in a hundred conversations and follows a
/// hundred users. The messages are in a few of the conversations, a hundred in each.
private struct LargeApplication: Sendable {
    /// The number of rows of most tables.
    static let size = TestRounds.areAll ? 100_000 : 10_000
    /// The number of conversations with messages.
    private static let conversationsWithMessages = size / 100

    private let sample: SampleApplication
    private var application: Application.ID { sample.application }

    init(_ sample: SampleApplication) { self.sample = sample }

    /// Inserts rows with these numbers into all tables.
    func insert(_ numbers: Range<Int>, on transaction: Transaction) throws {
        let series: SQL = "generate_series(\(numbers.lowerBound), \(numbers.upperBound - 1)) AS n"
        try transaction.execute(
            """
            INSERT INTO identities (application, user_id, kind, conversation_count, created_at)
            SELECT \(application), CASE n WHEN 0 THEN 'ana' ELSE 'u' || n END, 'user', 2, n
            FROM \(series)
            """)
        try transaction.execute(
            """
            INSERT INTO conversations (
                application, id, created_at, is_distinct, distinct_key, is_announced,
                last_position, last_sent_at, message_count, metadata, version, participant_count
            )
            SELECT \(application), decode(md5('c' || n), 'hex'), n, 1, decode(md5('d' || n), 'hex'), 1,
                100, n, 100, decode('00', 'hex'), 1, 2 FROM \(series)
            """)
        for second in [false, true] {
            try transaction.execute(
                """
                INSERT INTO participants (
                    application, conversation, user_id, place, past, joined_after,
                    conversation_created_at, total_count, unread_count, last_position, last_message,
                    last_at
                )
                SELECT \(application), decode(md5('c' || n), 'hex'),
                    CASE WHEN \(second) = 0 AND n % \(Self.conversationsWithMessages) = 7 THEN 'ana'
                        ELSE 'u' || (n + \(second)) END,
                    \(second), '', 0, n, 100, 50, 100, decode(md5('m' || n), 'hex'), n FROM \(series)
                """)
            try transaction.execute(
                """
                INSERT INTO receipts (application, conversation, user_id, delivered, read)
                SELECT \(application), decode(md5('c' || n), 'hex'), 'u' || (n + \(second)), '1-50',
                    '1-50' FROM \(series)
                """)
        }
        try transaction.execute(
            """
            INSERT INTO following (application, follower, followed, is_kept, event)
            SELECT \(application),
                CASE WHEN n % \(Self.conversationsWithMessages) = 7 THEN 'ana' ELSE 'u' || n END,
                'u' || (n + 1), 1, 1 FROM \(series)
            """)
        try transaction.execute(
            """
            INSERT INTO touched (application, stream, kind, id, position, gone_at, place)
            SELECT \(application), decode(md5('c' || n), 'hex'), 2, decode(md5('c' || n), 'hex'), 1, 0, 0
            FROM \(series)
            """)
        try transaction.execute(
            """
            INSERT INTO messages (
                application, id, conversation, position, sender_user, sent_at, version
            )
            SELECT \(application), decode(md5('m' || n), 'hex'),
                decode(md5('c' || n % \(Self.conversationsWithMessages)), 'hex'),
                n / \(Self.conversationsWithMessages) + 1, 'u1', n, 1
            FROM \(series)
            """)
        try transaction.execute(
            """
            INSERT INTO parts (application, message, part_index, id, mime_type, body, size)
            SELECT \(application), decode(md5('m' || n), 'hex'), 0, decode(md5('p' || n), 'hex'),
                'text/plain', 'x', 1 FROM \(series)
            """)
    }

    /// Runs the writes that are deferred.
    func writeAll(on transaction: Transaction) throws {
        for table in try transaction.tables() {
            _ = try transaction.rows(SQL(stringLiteral: "SELECT 1 FROM \(table) WHERE FALSE")) {
                _ in 1
            }
        }
    }

    /// Ids of rows, as the database made them.
    private func ids<Subject>(
        _ kind: String, _ transaction: Transaction
    ) throws -> [Identifier<Subject>] {
        try transaction.rows(
            "SELECT decode(md5(\(kind) || n), 'hex') FROM generate_series(1, 100) AS n"
        ) { row in try row.id(0) }
    }

    /// The id of a message at position 61 of one of the first conversations, which its participants have not read.
    private func unread(in conversation: Int, _ transaction: Transaction) throws -> Message.ID {
        let number = 60 * Self.conversationsWithMessages + conversation
        return try #require(
            try transaction.first("SELECT decode(md5('m' || CAST(\(number) AS BIGINT)), 'hex')") {
                row in try row.id(0)
            })
    }

    /// Runs calls of the store in the transaction.
    private func inline<Value: Sendable>(
        _ transaction: Transaction,
        _ body: @escaping @Sendable (MessagingStore) async throws -> Value
    ) throws -> Value {
        try sample.inline(transaction, body)
    }

    struct Operation: Sendable {
        let name: String
        /// Whether a statement reads the whole application before the tables were ever analysed with rows: then the
        /// planner expects next to none of them in the partial indexes of participants, and one row in each
        /// application. `TableStatistics` analyses the tables half a second after rows have been committed.
        var needsStatistics = false
        let run: @Sendable (LargeApplication, Transaction) throws -> Void
    }

    static let operations: [Operation] = lists + changes

    private static let lists: [Operation] = [
        Operation(name: "messages by their ids") { large, transaction in
            let found = try transaction.messages(
                try large.ids("m", transaction), in: large.application)
            #expect(found.count == 100)
        },
        Operation(name: "messages of a conversation") { large, transaction in
            let id: Conversation.ID = try large.ids("c", transaction)[0]
            let page = try large.inline(transaction) { store in
                try await store.messages(in: id, limit: 50, in: large.application)
            }
            #expect(page.items.count == 50)
        },
        Operation(name: "messages that a user sees") { large, transaction in
            let id: Conversation.ID = try large.ids("c", transaction)[1]
            let page = try large.inline(transaction) { store in
                try await store.messages(
                    in: id, seenBy: .user(.named("u2")), limit: 50, in: large.application)
            }
            #expect(page.items.count == 50)
        },
        Operation(name: "messages at positions") { large, transaction in
            let id: Conversation.ID = try large.ids("c", transaction)[2]
            let positions = (31...50).map { number in Position(number) }
            let found = try transaction.messages(at: positions, in: id, in: large.application)
            #expect(found.map(\.position) == positions && found.allSatisfy { $0.parts.count == 1 })
        },
        Operation(name: "messages at every other position") { large, transaction in
            let id: Conversation.ID = try large.ids("c", transaction)[2]
            let positions = (1...20).map { number in Position(30 + 2 * number) }
            let found = try transaction.messages(at: positions, in: id, in: large.application)
            #expect(found.map(\.position) == positions && found.allSatisfy { $0.parts.count == 1 })
        },
        Operation(name: "conversations of the application", needsStatistics: true) {
            large, transaction in
            let page = try large.inline(transaction) { store in
                try await store.conversations(limit: 100, in: large.application)
            }
            #expect(page.items.count == 100)
        },
        Operation(name: "conversations of a user by creation", needsStatistics: true) {
            large, transaction in
            let page = try large.inline(transaction) { store in
                try await store.conversations(of: .ana, limit: 50, in: large.application)
            }
            #expect(page.items.count == 50)
        },
        Operation(name: "conversations of a user by their last message", needsStatistics: true) {
            large, transaction in
            let page = try large.inline(transaction) { store in
                try await store.conversations(
                    of: .ana, sortedBy: .lastMessage, limit: 50, in: large.application)
            }
            #expect(page.items.count == 50)
        },
        Operation(name: "the badge of a user") { large, transaction in
            let badge = try large.inline(transaction) { store in
                try await store.badge(of: .ana, in: large.application)
            }
            #expect(badge.unreadMessageCount > 0)
        },
        Operation(name: "followed users") { large, transaction in
            let page = try large.inline(transaction) { store in
                try await store.followedUsers(of: .ana, limit: 50, in: large.application)
            }
            #expect(page.items.count == 50)
        },
        Operation(name: "the feed of a user", needsStatistics: true) { large, transaction in
            let page = try large.inline(transaction) { store in
                try await store.feed(
                    of: .named("u9"), after: nil, history: .all, limit: 50, in: large.application)
            }
            #expect(!page.entries.isEmpty)
        },
    ]

    private static let changes: [Operation] = [
        Operation(name: "sending a message", needsStatistics: true) { large, transaction in
            let id: Conversation.ID = try large.ids("c", transaction)[3]
            transaction.prefetchLocked(id, in: large.application)
            transaction.prefetchRecipients(in: id, to: .named("u4"), in: large.application)
            transaction.prefetchIdentities(of: [.named("u4")], in: large.application)
            try transaction.sendPrefetches()
            try large.inline(transaction) { store in
                _ = try await store.sendMessage(
                    Message.Draft(
                        sender: .user(.named("u4")),
                        parts: [MessagePart.Draft(mimeType: "text/plain", body: .inline([1]))]),
                    to: id, in: large.application)
            }
        },
        Operation(name: "a receipt", needsStatistics: true) { large, transaction in
            let id = try large.unread(in: 61, transaction)
            try transaction.prefetchReceipt(of: id, by: .named("u62"), in: large.application)
            try transaction.sendPrefetches()
            try large.inline(transaction) { store in
                try await store.recordReceipt(
                    .read, of: id, by: .named("u62"), in: large.application)
            }
        },
        Operation(name: "receipts of a range") { large, transaction in
            let id: Conversation.ID = try large.ids("c", transaction)[63]
            let recorded = try large.inline(transaction) { store in
                try await store.recordReceipts(
                    .delivery, of: IntervalSet(1...70), by: .named("u65"), in: id,
                    in: large.application)
            }
            #expect(recorded == IntervalSet(51...70))
        },
        Operation(name: "marking a conversation as read") { large, transaction in
            let id: Conversation.ID = try large.ids("c", transaction)[65]
            let result = try large.inline(transaction) { store in
                try await store.markAllRead(
                    upTo: nil, by: .named("u67"), in: id, in: large.application)
            }
            #expect(result.lastRead == Position(100))
        },
        Operation(name: "marking a part of a conversation as read") { large, transaction in
            let id: Conversation.ID = try large.ids("c", transaction)[67]
            let result = try large.inline(transaction) { store in
                try await store.markAllRead(
                    upTo: Position(80), by: .named("u69"), in: id, in: large.application)
            }
            #expect(result.lastRead == Position(80))
        },
        Operation(name: "deleting a message") { large, transaction in
            let id: Message.ID = try large.ids("m", transaction)[50]
            try large.inline(transaction) { store in
                _ = try await store.deleteMessage(id, in: nil, in: large.application)
            }
        },
        Operation(name: "creating a distinct conversation", needsStatistics: true) {
            large, transaction in
            try large.inline(transaction) { store in
                _ = try await store.createConversation(
                    Conversation.Draft(
                        participants: [.ana, .named("u77")], isDistinct: true, metadata: nil,
                        proposedID: nil, store.limits), in: large.application)
            }
        },
        Operation(name: "importing messages") { large, transaction in
            let found = try transaction.messages(
                try large.ids("m", transaction), in: large.application)
            let steps = found.values.map { message in
                ImportStep.record(.message(ArchivedMessage(message, places: [nil])))
            }
            try transaction.prefetch(
                steps, in: large.application, hash: large.sample.store.environment.sha256)
            try transaction.sendPrefetches()
            let outcomes = try large.inline(transaction) { store in
                try await store.importRecords(steps, in: large.application).outcomes
            }
            #expect(outcomes.allSatisfy { outcome in outcome == .present })
        },
        Operation(name: "moving messages") { large, transaction in
            let one: Conversation.ID = try large.ids("c", transaction)[9]
            let places = Array(1...100 as ClosedRange<Int64>)
            let count = try transaction.rowsChanged(
                by: .moving(
                    places, to: places.map { place in place + 1_000 }, of: one, into: one,
                    changed: nil, in: large.application))
            #expect(count == 100)
        },
    ]
}
