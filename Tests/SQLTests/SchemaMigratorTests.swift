import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `Schema migration` {
    private let second = SchemaMigration(
        number: 2, name: "ages",
        statements: [
            "ALTER TABLE people ADD COLUMN age BIGINT", "UPDATE people SET age = \(30)",
        ])

    @Test(arguments: Engine.allCases) func `is done once`(engine: Engine) async throws {
        let reopenable = engine.reopenable()
        var settings = DatabaseSettings()
        settings.now = { 1000 }
        try reopenable.open(settings: settings).close()
        settings.now = { 2000 }
        let database = try reopenable.open(settings: settings)
        #expect(try await history(of: database) == ["1 people 1000"])
    }

    @Test(arguments: Engine.allCases) func `runs new steps on an existing database`(engine: Engine)
        async throws
    {
        let reopenable = engine.reopenable()
        let before = try reopenable.open()
        try await before.add(1, "Ada")
        before.close()
        let database = try reopenable.open(migrations: People.migrations + [second])
        let ages = try await database.read { transaction in
            try transaction.rows("SELECT age FROM people") { row in try row.int("age") }
        }
        #expect(ages == [30])
    }

    @Test(arguments: Engine.allCases) func `refuses a database of a newer release`(engine: Engine)
        async throws
    {
        let reopenable = engine.reopenable()
        try reopenable.open(migrations: People.migrations + [second]).close()
        let error = await expectFault(.schema) { try reopenable.open() }
        #expect(error?.message.contains("newer") == true)
    }

    @Test(arguments: Engine.allCases) func `refuses another schema`(engine: Engine) async throws {
        let reopenable = engine.reopenable()
        try reopenable.open().close()
        let renamed = SchemaMigration(number: 1, name: "persons", statements: [])
        await expectFault(.schema) { try reopenable.open(migrations: [renamed]) }
    }

    @Test(arguments: Engine.allCases) func `rolls back a step that fails`(engine: Engine)
        async throws
    {
        let reopenable = engine.reopenable()
        let broken = SchemaMigration(
            number: 2, name: "broken",
            statements: ["CREATE TABLE pets (name TEXT)", "INSERT INTO nowhere VALUES (1)"])
        await expectFault(.misuse) {
            try reopenable.open(migrations: People.migrations + [broken])
        }
        let database = try reopenable.open()
        #expect(try await history(of: database).count == 1)
        await expectFault(.misuse) {
            try await database.read { try $0.rows("SELECT name FROM pets") { _ in true } }
        }
    }

    @Test(arguments: [[2, 1], [1, 1], [0], [-1, 1]], Engine.allCases)
    func `needs ascending numbers`(numbers: [Int], engine: Engine) async {
        let migrations = numbers.map { SchemaMigration(number: $0, name: "x", statements: []) }
        await expectFault(.misuse) { try Database.open(engine.location(), migrations: migrations) }
    }

    private func history(of database: Database) async throws -> [String] {
        try await database.read { transaction in
            try transaction.rows("SELECT * FROM schema_migrations ORDER BY number") { row in
                "\(try row.int("number")) \(try row.text("name")) \(try row.int64("applied_at"))"
            }
        }
    }
}
