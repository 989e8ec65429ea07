import TestSupport
import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `Statistics of a growing table` {
    private let server = PostgresServer.shared

    @Test func `are updated as a table grows, and again when it has doubled`() async throws {
        let database = try Database.open(
            .server(server.newSchema()), migrations: People.migrations)
        // Without autovacuum only our own statements update the statistics.
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
            #expect(try await database.hasStatistics(count))
        }
    }
}

extension Database {
    /// Waits until the planner knows of `count` rows, with commits meanwhile, as other clients make.
    fileprivate func hasStatistics(_ count: Int) async throws -> Bool {
        for _ in 0..<1200 {
            let analysed = try await write { transaction in try transaction.peopleAnalysed() }
            if analysed == count { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }
}

extension Transaction {
    /// The number of people when the table was last analysed.
    fileprivate func peopleAnalysed() throws -> Int? {
        try first("SELECT reltuples::bigint FROM pg_class WHERE oid = 'people'::regclass") { row in
            try row.int(0)
        }
    }
}
