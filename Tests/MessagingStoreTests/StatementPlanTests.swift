import Messaging
import SQL
import SQLPostgres
import TestSupport
import Testing

@testable import MessagingStore

/// PostgreSQL plans by statistics, which are missing or old while an application grows: what a statement reads must
/// not depend on them. SQLite keeps none.
@Suite(.enabled(if: !onSQLite)) struct `Statements with lists of keys` {
    /// When the tables were analysed.
    enum Statistics: CaseIterable {
        case never, empty, atHundredRows, full
    }

    /// The rows and index entries that each operation reads.
    private func reads(analysed statistics: Statistics) async throws -> [String: Int64] {
        let sample = try await SampleApplication(at: .server(PostgresServer.shared.newSchema()))
        let application = sample.application
        return try await sample.database.write { transaction in
            for table in ManyMessages.tables {
                try transaction.execute(
                    SQL(stringLiteral: "ALTER TABLE \(table) SET (autovacuum_enabled = false)"))
            }
            try transaction.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            // Without names, the statement would analyse the tables of other tests, too.
            let tables = try transaction.tables().joined(separator: ", ")
            let analysis = SQL(stringLiteral: "ANALYZE \(tables)")
            if statistics == .empty { try transaction.execute(analysis) }
            try ManyMessages.insert(0..<100, into: application, on: transaction)
            if statistics == .atHundredRows { try transaction.execute(analysis) }
            try ManyMessages.insert(100..<100_000, into: application, on: transaction)
            if statistics == .full { try transaction.execute(analysis) }
            var reads: [String: Int64] = [:]
            for operation in ManyMessages.operations {
                let before = try transaction.rowsRead()
                try operation.run(transaction, application)
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
        for operation in ManyMessages.operations {
            let counts = Statistics.allCases.map { state in all[state]?[operation.name] ?? 0 }
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

/// The messages of 1,000 conversations, and operations that name up to a hundred of them.
private enum ManyMessages {
    static let tables = ["messages", "parts"]

    /// Inserts messages with a part each.
    static func insert(
        _ numbers: Range<Int>, into application: Application.ID, on transaction: Transaction
    ) throws {
        let series: SQL = "generate_series(\(numbers.lowerBound), \(numbers.upperBound - 1)) AS n"
        try transaction.execute(
            """
            INSERT INTO messages (
                application, id, conversation, position, sender_user, sent_at, version
            )
            SELECT \(application), decode(md5('m' || n), 'hex'),
                decode(md5('c' || n % 1000), 'hex'), n / 1000 + 1, 'ana', n, 1 FROM \(series)
            """)
        try transaction.execute(
            """
            INSERT INTO parts (application, message, part_index, id, mime_type, body, size)
            SELECT \(application), decode(md5('m' || n), 'hex'), 0, decode(md5('p' || n), 'hex'),
                'text/plain', 'x', 1 FROM \(series)
            """)
    }

    struct Operation: Sendable {
        let name: String
        let run: @Sendable (Transaction, Application.ID) throws -> Void
    }

    /// Ids of rows, as the database made them.
    private static func ids<Subject>(
        _ kind: String, _ transaction: Transaction
    ) throws -> [Identifier<Subject>] {
        try transaction.rows(
            "SELECT decode(md5(\(kind) || n), 'hex') FROM generate_series(1, 100) AS n"
        ) { row in try row.id(0) }
    }

    static let operations: [Operation] = [
        Operation(name: "messages by their ids") { transaction, application in
            let found = try transaction.messages(try ids("m", transaction), in: application)
            #expect(found.count == 100)
        },
        Operation(name: "messages of a conversation") { transaction, application in
            let id: Conversation.ID = try ids("c", transaction)[0]
            let view = MessageView(
                conversation: id, participant: nil, application: application)
            let page = try transaction.messages(of: view, before: nil, limit: 50)
            #expect(page.items.count == 50)
        },
        Operation(name: "messages at positions") { transaction, application in
            let id: Conversation.ID = try ids("c", transaction)[2]
            let positions = (1...100).map { number in Position(number) }
            let found = try transaction.messages(at: positions, in: id, in: application)
            #expect(found.map(\.position) == positions && found.allSatisfy { $0.parts.count == 1 })
        },
        Operation(name: "moving messages") { transaction, application in
            let one: Conversation.ID = try ids("c", transaction)[1]
            let places = Array(1...100 as ClosedRange<Int64>)
            let count = try transaction.rowsChanged(
                by: .moving(
                    places, to: places.map { place in place + 1_000 }, of: one, into: one,
                    in: application))
            #expect(count == 100)
        },
    ]
}
