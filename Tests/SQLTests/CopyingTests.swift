import Testing

@testable import SQL

@Suite struct `A copy of a database` {
    private let source = TemporaryFile()
    private let target = TemporaryFile()

    @Test func `has what was committed before it began, during other changes`() async throws {
        let database = try source.open()
        for number in 0..<200 { try await database.add(number, long) }
        let adding = Task {
            var number = 1000
            while !Task.isCancelled {
                try await database.add(number, long)
                number += 1
            }
            return number
        }
        while try await database.names().count < 210 { await Task.yield() }
        try copy()
        adding.cancel()
        let end = try await adding.value
        let copied = try await target.open().names().count
        #expect((210...(200 + end - 1000)).contains(copied))
        #expect(try await database.names().count == 200 + end - 1000)
    }

    @Test func `reports its progress`() async throws {
        let database = try source.open()
        for number in 0..<2000 { try await database.add(number, long) }
        database.close()
        var steps: [(done: Int64, total: Int64)] = []
        try Database.copy(
            file: source.path, to: target.path, migrations: People.migrations
        ) { done, total in steps.append((done, total)) }
        #expect(steps.count > 1)
        #expect(steps.last?.done == steps.last?.total)
        #expect(steps.last?.total == target.size(of: "").map(Int64.init))
    }

    @Test func `is refused for a newer or older schema, and changes nothing`() async throws {
        let next = SchemaMigration(
            number: 2, name: "next", statements: ["CREATE TABLE later (id BIGINT NOT NULL)"])
        try source.open(migrations: People.migrations + [next]).close()
        await expectFault(.schema) { try copy() }
        let older = TemporaryFile()
        try older.open().close()
        let error = await expectFault(.schema) {
            try Database.copy(
                file: older.path, to: target.path, migrations: People.migrations + [next])
        }
        #expect(error?.message.contains("up to 1, this program knows them up to 2") == true)
    }

    @Test func `is refused for a damaged file`() async throws {
        let database = try source.open()
        for number in 0..<50 { try await database.add(number, long) }
        database.close()
        let size = try #require(source.size(of: ""))
        source.overwrite(from: size / 2, with: Array(repeating: 0xFF, count: size / 2))
        await expectFault(.corrupt) { try copy() }
    }

    @Test func `is refused for a file that is no database`() async throws {
        source.overwrite(from: 0, with: Array(repeating: 0x2A, count: 8192))
        await expectFault(.notADatabase) { try copy() }
        await expectFault(.cannotOpen) {
            try Database.copy(file: "/nonexistent/a", to: target.path, migrations: [])
        }
    }

    private func copy() throws {
        try Database.copy(file: source.path, to: target.path, migrations: People.migrations)
    }

    private var long: String { String(repeating: "x", count: 3000) }
}
