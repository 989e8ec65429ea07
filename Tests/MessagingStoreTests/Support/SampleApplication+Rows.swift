import Messaging
import SQL
import SQLPostgres
import Testing

@testable import MessagingStore

extension SampleApplication {
    /// Expects that replaying the events makes the same rows (X3), and that the stored counts of
    /// conversations and users are correct.
    func expectSameRowsAgain(
        except tables: Set<String> = [], _ comment: Comment? = nil
    ) async throws {
        let counts = try await database.read { [application] transaction in
            try transaction.first(
                """
                /* test */ SELECT conversation_count, user_count, (
                    SELECT COUNT(*) FROM conversations c
                    WHERE c.application = a.application AND c.deleted_at IS NULL
                ), (
                    SELECT COUNT(*) FROM identities i WHERE i.application = a.application
                ) FROM applications a WHERE a.application = \(application.bytes)
                """
            ) { row in try (0...3).map { column in try row.int64(.index(column)) } }
        }
        if let counts { #expect(counts[..<2] == counts[2...], comment) }
        let events = try await events()
        let place = TestDatabase()
        let again = try Database.open(place.location, migrations: MessagingStore.migrations)
        defer { withExtendedLifetime(place) { again.close() } }
        try await again.write { [application] transaction in
            for recorded in events {
                var projection = Projection(
                    transaction: transaction, application: application,
                    hash: StoreEnvironment.live.sha256, position: recorded.position,
                    moment: recorded.at)
                projection.trace = recorded.trace
                try recorded.event.stored.apply(to: projection)
            }
        }
        // Webhooks cannot be replayed from the log, which has no secrets.
        let left = tables.union([
            "schema_migrations", "events", "log_positions", "webhooks", "former_secrets", "secrets",
            "dropped_webhooks", "webhook_ranges",
        ])
        let current = try await rows(except: left)
        let replayed = try await SampleApplication.rows(of: again, except: left)
        #expect(Set(current).subtracting(replayed).sorted() == [], comment)
        #expect(Set(replayed).subtracting(current).sorted() == [], comment)
        #expect(replayed.count == current.count, comment)
    }
}

extension SampleApplication {
    /// Runs calls of the store in a transaction.
    func inline<Value: Sendable>(
        _ transaction: Transaction,
        _ body: @escaping @Sendable (MessagingStore) async throws -> Value
    ) throws -> Value {
        let key = try #require(IdempotencyKey("key"))
        let request = IdempotentRequest(
            IdempotentRequest.Name(application: application, user: nil, key: key), describedBy: [],
            at: store.environment.now(), hash: store.environment.sha256)
        let inline = InlineTransaction(transaction)
        let inner = store.using(.within(inline, guardedBy: IdempotencyGuard(request)))
        return try #require(inline.runToEnd { try await body(inner) }).get()
    }

    /// The query plan of a statement, as text.
    func plan(of statement: SQL) async throws -> String {
        try await database.read { transaction in
            try onSQLite
                ? transaction.rows("EXPLAIN QUERY PLAN \(statement)") { row in try row.text(3) }
                : transaction.rows("EXPLAIN \(statement)") { row in try row.text(0) }
        }.joined(separator: "\n")
    }
}

extension SQL.StringInterpolation {
    /// A 16-byte id from the value of a column, in the syntax of the engine.
    mutating func appendInterpolation(number column: StaticString) {
        appendLiteral(
            onSQLite
                ? "CAST(printf('%016d', \(column)) AS BLOB)"
                : "decode(lpad(to_hex(\(column)), 32, '0'), 'hex')")
    }
}

extension Transaction {
    /// The names of all tables.
    func tables() throws -> [String] {
        let statement: SQL =
            onSQLite
            ? "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            : "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
        return try rows(statement) { row in try row.text(0) }
    }

    /// The columns of a table, in their order.
    func columns(of table: String) throws -> [String] {
        let statement: SQL =
            onSQLite
            ? "SELECT name FROM pragma_table_info(\(table))"
            : """
            SELECT attname FROM pg_attribute
            WHERE attrelid = to_regclass(\(table)) AND attnum > 0 AND NOT attisdropped
            ORDER BY attnum
            """
        return try rows(statement) { row in try row.text(0) }
    }
}
