import TestSupport
import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `Migrating a database to PostgreSQL` {
    private let file = TemporaryFile()
    private let url = PostgresServer.shared.newSchema()

    /// A table with a key, one with equal rows, and one without rows.
    private static let migrations = [
        SchemaMigration(
            number: 1, name: "things",
            statements: [
                """
                CREATE TABLE things (
                    owner BYTEA NOT NULL, name TEXT NOT NULL, weight BIGINT, picture BYTEA
                )
                """,
                "CREATE INDEX things_by_weight ON things (weight)",
                "CREATE UNIQUE INDEX things_by_name ON things (owner, name)",
                "CREATE TABLE notes (name TEXT NOT NULL, page BIGINT NOT NULL)",
                "CREATE TABLE empty (id BIGINT NOT NULL PRIMARY KEY)",
            ])
    ]

    @Test func `copies every row unchanged`() async throws {
        try await fill(1200)
        let move = try move()
        #expect(move.tables.map(\.name) == ["empty", "notes", "things"])
        #expect(move.tables.map(\.rows) == [0, 2400, 1200])
        try send(move)
        for table in move.tables {
            var compared = 0
            try move.verify(table) { count in compared += count }
            #expect(compared == Int(table.rows))
        }
        try move.finish()
        let target = try Database.open(.server(url), migrations: Self.migrations)
        let found = try await target.read { try $0.things() }
        let source = try file.open(migrations: Self.migrations)
        #expect(try await source.read { try $0.things() } == found)
        #expect(found.count == 1200)
    }

    @Test func `continues after the last row that was copied`() async throws {
        try await fill(1200)
        var sent = 0
        #expect(throws: CancellationError.self) {
            try move().send { count in
                sent += count
                if sent > 2400 { throw CancellationError() }
            }
        }
        let again = try move()
        #expect(again.rowsBefore == sent && sent < 3600)
        try send(again)
        for table in again.tables { try again.verify(table) { _ in } }
    }

    @Test func `an unfinished database cannot be opened`() async throws {
        try await fill(10)
        let half = try move()
        await expectFault(.unfinished) {
            try Database.open(.server(url), migrations: Self.migrations)
        }
        try send(half)
        try half.finish()
        try Database.open(.server(url), migrations: Self.migrations).close()
    }

    @Test func `is refused if the target has rows`() async throws {
        try await fill(10)
        let target = try Database.open(.server(url), migrations: Self.migrations)
        try await target.write { try $0.add(note: "mine", 1) }
        target.close()
        #expect(throws: DatabaseMigration.Failure.notEmpty("notes")) { try move() }
    }

    @Test func `is refused if the target has another table, before creating its own`()
        async throws
    {
        try await fill(10)
        try PostgresConnection(to: url, .migrating).write { transaction in
            try transaction.execute("CREATE TABLE orders (id BIGINT)")
        }
        #expect(throws: DatabaseMigration.Failure.notEmpty("orders")) { try move() }
        let tables = try PostgresConnection(to: url, .migrating).read { transaction in
            try transaction.table(besides: ["orders"])
        }
        #expect(tables == nil)
    }

    @Test(arguments: [
        "UPDATE things SET weight = 7 WHERE name = 'thing 5'",
        "UPDATE things SET picture = NULL WHERE name = 'thing 5'",
        "UPDATE things SET name = 'thing 10' WHERE name = 'thing 5'",
        "DELETE FROM things WHERE name = 'thing 9'",
    ]) func `detects a row that differs`(statement: String) async throws {
        try await fill(10)
        let move = try move()
        try send(move)
        try PostgresConnection(to: url, .migrating).write { transaction in
            try transaction.execute(SQL(stringLiteral: statement))
        }
        let things = try #require(move.tables.last)
        #expect(throws: DatabaseMigration.Failure.differs("things")) {
            try move.verify(things) { _ in }
        }
    }

    @Test func `detects a duplicate row in a table without keys`() async throws {
        try await fill(10)
        let move = try move()
        try send(move)
        try PostgresConnection(to: url, .migrating).write { try $0.add(note: "note 5", 5) }
        #expect(throws: DatabaseMigration.Failure.differs("notes")) {
            try move.verify(move.tables[1]) { _ in }
        }
    }

    @Test func `detects an equal row in place of another`() async throws {
        try await fill(10)
        let move = try move()
        try send(move)
        try PostgresConnection(to: url, .migrating).write { transaction in
            try transaction.execute("DELETE FROM notes WHERE page = 6")
            for _ in 0..<2 { try transaction.add(note: "note 5\u{0}é", 5) }
        }
        #expect(throws: DatabaseMigration.Failure.differs("notes")) {
            try move.verify(move.tables[1]) { _ in }
        }
    }

    @Test func `stops a second migration that runs at the same time`() async throws {
        try await fill(10)
        let (first, second) = (try move(), try move())
        try send(first)
        await expectFault(.collided) { try send(second) }
        for table in first.tables { try first.verify(table) { _ in } }
    }

    @Test func `is refused for a file with another schema`() throws {
        try file.open(migrations: People.migrations).close()
        #expect {
            try move()
        } throws: { error in
            guard case .source(let error)? = error as? DatabaseMigration.Failure else {
                return false
            }
            return error.kind == .schema
        }
    }

    private func move() throws -> DatabaseMigration {
        try DatabaseMigration(from: file.path, to: url, migrations: Self.migrations)
    }

    private func send(_ move: DatabaseMigration) throws {
        var sent = 0
        try move.send { count in sent += count }
        #expect(move.rowsBefore + Int64(sent) == move.rows)
    }

    private func fill(_ count: Int) async throws {
        let database = try file.open(migrations: Self.migrations)
        try await database.write { transaction in
            for number in 0..<count {
                // Special characters, bytes and NULL.
                let picture: [UInt8]? =
                    number % 3 == 0
                    ? nil : [UInt8](repeating: UInt8(number % 256), count: number % 7)
                let weight: Int64? = number % 5 == 0 ? nil : Int64(number) * -4_000_000_000
                try transaction.execute(
                    """
                    INSERT INTO things (owner, name, weight, picture)
                    VALUES (\([UInt8(number % 2)]), \("thing \(number)"), \(weight), \(picture))
                    """)
                for _ in 0..<2 { try transaction.add(note: "note \(number)\u{0}é", number) }
            }
        }
        database.close()
    }
}

extension Transaction {
    fileprivate func add(note: String, _ page: Int) throws {
        try execute("INSERT INTO notes (name, page) VALUES (\(note), \(page))")
    }

    fileprivate func things() throws -> [[SQLValue]] {
        try rows("SELECT owner, name, weight, picture FROM things ORDER BY owner, name") { row in
            try (0..<4).map { index in try row.value(.index(index)) }
        }
    }
}
