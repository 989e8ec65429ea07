import Dispatch
import Testing

@testable import SQL

@Suite struct `A database` {
    @Test func `has what was written when it is opened again`() async throws {
        let file = TemporaryFile()
        let first = try file.open()
        try await first.add(1, "Ada")
        first.close()
        let second = try file.open()
        #expect(try await second.names() == ["Ada"])
        second.close()
    }

    @Test func `shows a finished write to every other process`() async throws {
        let file = TemporaryFile()
        let (database, other) = (try file.open(), try file.open())
        try await database.add(1, "Ada")
        #expect(try await other.names() == ["Ada"])
    }

    @Test func `syncs each commit fully`() async throws {
        let database = try Database.ofPeople()
        let setting = try await database.write { transaction in
            try transaction.first("PRAGMA synchronous") { row in try row.int64(0) }
        }
        #expect(setting == 2)
    }

    @Test func `reads one state however long it looks`() async throws {
        let database = try Database.ofPeople()
        try await database.add(1, "Ada")
        let (looked, signal) = AsyncStream.makeStream(of: Void.self)
        let written = DispatchSemaphore(value: 0)
        async let seen = database.read { transaction in
            let before = try transaction.names()
            signal.yield()
            written.wait()
            return [before, try transaction.names()]
        }
        var steps = looked.makeAsyncIterator()
        await steps.next()
        try await database.add(2, "Grace")
        written.signal()
        #expect(try await seen == [["Ada"], ["Ada"]])
        #expect(try await database.names() == ["Ada", "Grace"])
    }

    @Test func `serves more reads than it has readers`() async throws {
        let database = try Database.ofPeople()
        try await database.add(1, "Ada")
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await database.names().count } }
            return try await group.reduce(0, +)
        }
        #expect(counts == 100)
    }

    @Test func `changes nothing in a read`() async throws {
        let database = try Database.ofPeople()
        await expectFault(.readOnly) {
            try await database.read { try $0.add(1, "Mallory") }
        }
        #expect(try await database.names().isEmpty)
    }

    @Test func `finishes what waits when it is closed`() async throws {
        let file = TemporaryFile()
        let database = try file.open()
        let gate = await Gate(holding: database)
        let results = try await gate.pass(times: 50) { try $0.add($1, "x") }
        database.close()
        #expect(results.successes() == 50)
        await expectFault(.closed) { try await database.add(51, "late") }
        await expectFault(.closed) { try await database.names() }
        #expect(file.size(of: "-wal") == nil)
        #expect(try await file.open().names().count == 50)
    }

    @Test func `may be closed twice`() throws {
        let database = try Database.ofPeople()
        database.close()
        database.close()
    }

    @Test func `moves its log into the file while it is written`() async throws {
        let file = TemporaryFile()
        var settings = DatabaseSettings()
        settings.checkpointInterval = 16
        let database = try file.open(settings: settings)
        for number in 0..<1000 {
            try await database.add(number, String(repeating: "x", count: 2000))
        }
        // Without checkpoints three pages a commit would make 12 MB.
        #expect(try #require(file.size(of: "-wal")) < 6_000_000)
        #expect(try await database.names().count == 1000)
    }

    @Test func `notices commits of others and not its own`() async throws {
        let file = TemporaryFile()
        let (database, other) = (try file.open(), try file.open())
        let start = try await database.foreignCommits()
        try await database.add(1, "Ada")
        #expect(try await database.foreignCommits() == start)
        try await other.add(2, "Grace")
        #expect(try await database.foreignCommits() != start)
    }
}
