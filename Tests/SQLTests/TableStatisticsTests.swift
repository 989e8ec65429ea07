import TestSupport
import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `A server that is told of growth` {
    private let server = PostgresServer.shared

    @Test func `learns how large a table has become, and again when it has doubled`() async throws {
        let database = try Database.open(
            .server(server.newSchema()), migrations: People.migrations)
        // Only what we do counts.
        try await database.write { transaction in
            try transaction.execute("ALTER TABLE people SET (autovacuum_enabled = off)")
        }
        for count in [1000, 3000] {
            try await database.write { transaction in
                try transaction.execute(
                    """
                    INSERT INTO people (id, name) SELECT n, 'Ada'
                    FROM generate_series((SELECT COUNT(*) + 1 FROM people), \(count)) n
                    """)
            }
            #expect(try await database.hasLearned(count))
        }
    }
}

extension Database {
    /// Whether the planner knows of so many rows; commits meanwhile, as other clients would.
    fileprivate func hasLearned(_ count: Int) async throws -> Bool {
        for _ in 0..<1200 {
            let told = try await write { transaction in try transaction.peopleAnalysed() }
            if told == count { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }
}

extension Transaction {
    /// How many people there were when they were last analysed.
    fileprivate func peopleAnalysed() throws -> Int? {
        try first("SELECT reltuples::bigint FROM pg_class WHERE oid = 'people'::regclass") { row in
            try row.int(0)
        }
    }
}
