import Testing

@testable import SQL

@Suite struct `Migrating` {
    private let second = Migration(
        number: 2, name: "ages",
        statements: [
            "ALTER TABLE people ADD COLUMN age BIGINT", "UPDATE people SET age = \(30)",
        ])

    @Test func `twice changes nothing`() async throws {
        let file = TemporaryFile()
        var settings = DatabaseSettings()
        settings.now = { 1000 }
        try file.open(settings: settings).close()
        settings.now = { 2000 }
        let database = try file.open(settings: settings)
        #expect(try await history(of: database) == ["1 people 1000"])
    }

    @Test func `runs what is new on what is there`() async throws {
        let file = TemporaryFile()
        let before = try file.open()
        try await before.add(1, "Ada")
        before.close()
        let database = try file.open(migrations: People.migrations + [second])
        let ages = try await database.read { transaction in
            try transaction.rows("SELECT age FROM people") { row in try row.int("age") }
        }
        #expect(ages == [30])
    }

    @Test func `refuses a database of a newer release`() async throws {
        let file = TemporaryFile()
        try file.open(migrations: People.migrations + [second]).close()
        let error = await expectFault(.schema) { try file.open() }
        #expect(error?.message.contains("newer") == true)
    }

    @Test func `refuses another history`() async throws {
        let file = TemporaryFile()
        try file.open().close()
        let renamed = Migration(number: 1, name: "persons", statements: [])
        await expectFault(.schema) { try file.open(migrations: [renamed]) }
    }

    @Test func `that fails leaves nothing of its step`() async throws {
        let file = TemporaryFile()
        let broken = Migration(
            number: 2, name: "broken",
            statements: ["CREATE TABLE pets (name TEXT)", "INSERT INTO nowhere VALUES (1)"])
        await expectFault(.misuse) {
            try file.open(migrations: People.migrations + [broken])
        }
        let database = try file.open()
        #expect(try await history(of: database).count == 1)
        let pets = try await database.read { transaction in
            try transaction.first("SELECT 1 FROM sqlite_master WHERE name = 'pets'") { _ in true }
        }
        #expect(pets == nil)
    }

    @Test(arguments: [[2, 1], [1, 1], [0], [-1, 1]])
    func `wants numbers that go up`(numbers: [Int]) async {
        let migrations = numbers.map { Migration(number: $0, name: "x", statements: []) }
        await expectFault(.misuse) { try Database.open(.temporary, migrations: migrations) }
    }

    private func history(of database: Database) async throws -> [String] {
        try await database.read { transaction in
            try transaction.rows("SELECT * FROM schema_migrations ORDER BY number") { row in
                "\(try row.int("number")) \(try row.text("name")) \(try row.int64("applied_at"))"
            }
        }
    }
}
