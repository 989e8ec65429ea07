import Dispatch
import Testing

@testable import SQL

@Suite struct `A database` {
    @Test(arguments: Engine.allCases) func `has what was written after it is opened again`(
        engine: Engine
    ) async throws {
        let reopenable = engine.reopenable()
        let first = try reopenable.open()
        try await first.add(1, "Ada")
        first.close()
        let second = try reopenable.open()
        #expect(try await second.names() == ["Ada"])
        second.close()
    }

    @Test(arguments: Engine.allCases) func `shows a finished write to every other process`(
        engine: Engine
    ) async throws {
        let reopenable = engine.reopenable()
        let (database, other) = (try reopenable.open(), try reopenable.open())
        try await database.add(1, "Ada")
        #expect(try await other.names() == ["Ada"])
    }

    @Test func `syncs each commit fully`() async throws {
        let database = try Database.ofPeople()
        let settings = try await database.write { transaction in
            try ["PRAGMA synchronous", "PRAGMA fullfsync", "PRAGMA checkpoint_fullfsync"].map {
                sql in
                try transaction.first(sql) { row in try row.int64(0) }
            }
        }
        #expect(settings == [2, 1, 1])
    }

    @Test func `a version of SQLite that is too old is refused`() throws {
        try SQLiteConnection.requireSupported(3_040_000)
        #expect(throws: SQLError.self) { try SQLiteConnection.requireSupported(3_039_004) }
    }

    @Test(arguments: Engine.allCases) func `reads one state for a whole transaction`(engine: Engine)
        async throws
    {
        let database = try engine.people()
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

    @Test(arguments: Engine.allCases) func `serves more reads than it has readers`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        try await database.add(1, "Ada")
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await database.names().count } }
            return try await group.reduce(0, +)
        }
        #expect(counts == 100)
    }

    @Test(arguments: Engine.allCases) func `cannot be changed in a read`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        await expectFault(.readOnly) {
            try await database.read { try $0.add(1, "Mallory") }
        }
        #expect(try await database.names().isEmpty)
    }

    @Test func `finishes waiting changes when it is closed`() async throws {
        let file = TemporaryFile()
        let database = try file.open()
        let held = await HeldWriter(of: database)
        let results = try await held.run(times: 50) { try $0.add($1, "x") }
        database.close()
        #expect(results.successes() == 50)
        await expectFault(.closed) { try await database.add(51, "late") }
        await expectFault(.closed) { try await database.names() }
        #expect(file.size(of: "-wal") == nil)
        #expect(try await file.open().names().count == 50)
    }

    @Test(arguments: Engine.allCases) func `can be closed twice`(engine: Engine) throws {
        let database = try engine.people()
        database.close()
        database.close()
    }

    @Test func `writes its log into the file between commits`() async throws {
        let file = TemporaryFile()
        var settings = DatabaseSettings()
        settings.checkpointInterval = 16
        let database = try file.open(settings: settings)
        for number in 0..<1000 {
            try await database.add(number, String(repeating: "x", count: 2000))
        }
        // Without checkpoints the log would grow to 12 MB.
        #expect(try #require(file.size(of: "-wal")) < 10_000_000)
        #expect(try await database.names().count == 1000)
    }

    @Test func `writes a short log into the file when no commit follows`() async throws {
        let file = TemporaryFile()
        var settings = DatabaseSettings()
        settings.quietTime = .milliseconds(20)
        let database = try file.open(settings: settings)
        try await database.add(1, String(repeating: "x", count: 100_000))
        // Before, all of it is in the log.
        while try #require(file.size(of: "")) < 100_000 {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await database.names().count == 1)
    }
}
