import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `Migrating` {
    private let second = SchemaMigration(
        number: 2, name: "ages",
        statements: [
            "ALTER TABLE people ADD COLUMN age BIGINT", "UPDATE people SET age = \(30)",
        ])

    @Test(arguments: Engine.allCases) func `twice changes nothing`(engine: Engine) async throws {
        let place = engine.lasting()
        var settings = DatabaseSettings()
        settings.now = { 1000 }
        try place.open(settings: settings).close()
        settings.now = { 2000 }
        let database = try place.open(settings: settings)
        #expect(try await history(of: database) == ["1 people 1000"])
    }

    @Test(arguments: Engine.allCases) func `runs what is new on what is there`(engine: Engine)
        async throws
    {
        let place = engine.lasting()
        let before = try place.open()
        try await before.add(1, "Ada")
        before.close()
        let database = try place.open(migrations: People.migrations + [second])
        let ages = try await database.read { transaction in
            try transaction.rows("SELECT age FROM people") { row in try row.int("age") }
        }
        #expect(ages == [30])
    }

    @Test(arguments: Engine.allCases) func `refuses a database of a newer release`(engine: Engine)
        async throws
    {
        let place = engine.lasting()
        try place.open(migrations: People.migrations + [second]).close()
        let error = await expectFault(.schema) { try place.open() }
        #expect(error?.message.contains("newer") == true)
    }

    @Test(arguments: Engine.allCases) func `refuses another history`(engine: Engine) async throws {
        let place = engine.lasting()
        try place.open().close()
        let renamed = SchemaMigration(number: 1, name: "persons", statements: [])
        await expectFault(.schema) { try place.open(migrations: [renamed]) }
    }

    @Test(arguments: Engine.allCases) func `that fails leaves nothing of its step`(engine: Engine)
        async throws
    {
        let place = engine.lasting()
        let broken = SchemaMigration(
            number: 2, name: "broken",
            statements: ["CREATE TABLE pets (name TEXT)", "INSERT INTO nowhere VALUES (1)"])
        await expectFault(.misuse) {
            try place.open(migrations: People.migrations + [broken])
        }
        let database = try place.open()
        #expect(try await history(of: database).count == 1)
        await expectFault(.misuse) {
            try await database.read { try $0.rows("SELECT name FROM pets") { _ in true } }
        }
    }

    @Test(arguments: [[2, 1], [1, 1], [0], [-1, 1]], Engine.allCases)
    func `wants numbers that go up`(numbers: [Int], engine: Engine) async {
        let migrations = numbers.map { SchemaMigration(number: $0, name: "x", statements: []) }
        await expectFault(.misuse) { try Database.open(engine.place(), migrations: migrations) }
    }

    private func history(of database: Database) async throws -> [String] {
        try await database.read { transaction in
            try transaction.rows("SELECT * FROM schema_migrations ORDER BY number") { row in
                "\(try row.int("number")) \(try row.text("name")) \(try row.int64("applied_at"))"
            }
        }
    }
}
