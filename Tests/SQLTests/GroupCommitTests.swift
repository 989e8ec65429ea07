import SystemSupport
import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `Group commit` {
    @Test(arguments: Engine.allCases) func `commits all waiting changes in one transaction`(
        engine: Engine
    )
        async throws
    {
        let database = try engine.people()
        let held = await HeldWriter(of: database)
        let results = try await held.run(times: 200) { try $0.add($1, "x") }
        #expect(results.successes() == 200)
        #expect(try await database.names().count == 200)
        #expect(database.statistics.commits == 2)
        #expect(database.statistics.mutations == 201)
        #expect(database.statistics.largestBatch == 200)
        #expect(database.statistics.replays == 0)
    }

    @Test(arguments: Engine.allCases) func `commits at most its limit at once`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        let held = await HeldWriter(of: database)
        _ = try await held.run(times: 300) { try $0.add($1, "x") }
        #expect(database.statistics.largestBatch == Writer.batchLimit)
        #expect(database.statistics.commits == 3)
    }

    @Test(arguments: Engine.allCases)
    func `reports how long each batch took and how many changes wait`(
        engine: Engine
    ) async throws {
        let batches = Locked(0)
        var settings = DatabaseSettings()
        settings.onCommit = { duration in
            batches.withLock { batches in batches += duration > .zero ? 1 : 0 }
        }
        let database = try Database.open(engine.location(), migrations: [], settings: settings)
        for _ in 0..<3 { try await database.write { _ in } }
        #expect(batches.withLock { $0 } == 3)
        #expect(database.waitingChanges == 0)
        let busy = try await database.read { _ in database.busyReaders }
        #expect(busy == 1)
        #expect(database.waitingReads == 0)
    }

    @Test(arguments: Engine.allCases) func `rolls back only the change that throws`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        let held = await HeldWriter(of: database)
        let results = try await held.run(
            { try $0.add(1, "Ada") },
            {
                try $0.add(2, "Mallory"); throw People.TestError()
            },
            { try $0.add(3, "Grace") },
        )
        #expect(results.successes() == 2)
        #expect(throws: People.TestError()) { try results[1].get() }
        #expect(try await database.names() == ["Ada", "Grace"])
        #expect(database.statistics.replays == 1)
    }

    @Test(arguments: Engine.allCases) func `repeats the other changes when one throws`(
        engine: Engine
    )
        async throws
    {
        let database = try engine.people()
        let runs = Locked(0)
        let held = await HeldWriter(of: database)
        _ = try await held.run(
            { _ in runs.withLock { $0 += 1 } },
            {
                try $0.add(1, "Mallory"); throw People.TestError()
            },
        )
        #expect(runs.withLock { $0 } == 2)
    }

    @Test(arguments: Engine.allCases)
    func `does not replay the others when a change that only reads throws`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let runs = Locked(0)
        let held = await HeldWriter(of: database)
        let results = try await held.run(
            {
                runs.withLock { $0 += 1 }
                try $0.add(1, "Ada")
            },
            {
                // The change reads the earlier changes of the same transaction.
                guard try $0.rows("SELECT name FROM people", { try $0.text(0) }) != ["Ada"] else {
                    throw People.TestError()
                }
            },
            { try $0.add(3, "Grace") },
        )
        #expect(results.successes() == 2)
        #expect(throws: People.TestError()) { try results[1].get() }
        #expect(try await database.names() == ["Ada", "Grace"])
        #expect(runs.withLock { $0 } == 1)
        #expect(database.statistics.replays == 0)
        #expect(database.statistics.commits == 2)
    }

    @Test(arguments: Engine.allCases)
    func `rolls back a throwing change whose statement returned rows`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let held = await HeldWriter(of: database)
        let results = try await held.run(
            { try $0.add(1, "Ada") },
            {
                let sql: SQL = "INSERT INTO people (id, name) VALUES (2, 'Mallory') RETURNING id"
                _ = try $0.rows(sql) { try $0.int64(0) }
                throw People.TestError()
            },
        )
        #expect(results.successes() == 1)
        #expect(try await database.names() == ["Ada"])
        #expect(database.statistics.replays == 1)
    }

    @Test(arguments: Engine.allCases) func `lets each change see those before it`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        let held = await HeldWriter(of: database)
        let results = try await held.run(
            {
                try $0.add(1, "Ada"); return try $0.names().count
            },
            {
                try $0.add(1, "Eve"); return try $0.names().count
            },
            {
                try $0.add(2, "Grace"); return try $0.names().count
            },
        )
        #expect(results.map { try? $0.get() } == [1, nil, 2])
        #expect(results[1].fault == .notUnique)
    }

    @Test(arguments: Engine.allCases) func `does not replay a change that is alone`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        let runs = Locked(0)
        await #expect(throws: People.TestError()) {
            try await database.write { transaction in
                runs.withLock { $0 += 1 }
                try transaction.add(1, "Mallory")
                throw People.TestError()
            }
        }
        #expect(runs.withLock { $0 } == 1)
        #expect(try await database.names().isEmpty)
        #expect(database.statistics.commits == 0)
    }

    @Test(arguments: Engine.allCases)
    func `calls hooks once for committed changes and never for others`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        let notifications = Locked<[String]>([])
        let held = await HeldWriter(of: database)
        _ = try await held.run(
            { $0.afterCommit { notifications.withLock { $0.append("first") } } },
            {
                $0.afterCommit { notifications.withLock { $0.append("never") } }
                throw People.TestError()
            },
            { $0.afterCommit { notifications.withLock { $0.append("last") } } },
        )
        #expect(notifications.withLock { $0 } == ["first", "last"])
    }

    @Test(arguments: Engine.allCases)
    func `calls hooks after the commit and before the caller continues`(
        engine: Engine
    ) async throws {
        let reopenable = engine.reopenable()
        let database = try reopenable.open()
        let seen = Locked<[String]>([])
        try await database.write { transaction in
            try transaction.add(1, "Ada")
            transaction.afterCommit {
                let names = try? reopenable.connection().read { try $0.names() }
                seen.withLock { $0 = names ?? [] }
            }
        }
        #expect(seen.withLock { $0 } == ["Ada"])
    }

    @Test(arguments: Engine.allCases)
    func `calls hooks before and after a commit`(
        engine: Engine
    ) async throws {
        let reopenable = engine.reopenable()
        let database = try reopenable.open()
        let seen = Locked<[[String]?]>([])
        let readNames: @Sendable () -> Void = {
            let names = try? reopenable.connection().read { try $0.names() }
            seen.withLock { $0.append(names) }
        }
        try await database.write { transaction in
            try transaction.add(1, "Ada")
            transaction.aroundCommit(before: readNames, after: readNames)
        }
        #expect(seen.withLock { $0 } == [[], ["Ada"]])
        await #expect(throws: People.TestError()) {
            try await database.write { transaction in
                transaction.aroundCommit(before: readNames, after: readNames)
                throw People.TestError()
            }
        }
        #expect(seen.withLock { $0.count } == 2)
    }

    @Test(arguments: Engine.allCases) func `loses no increment of many callers`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        try await database.add(1, "0")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<400 {
                group.addTask {
                    try await database.write { transaction in
                        let count = try transaction.names().first.flatMap { Int($0) } ?? 0
                        try transaction.execute(
                            "UPDATE people SET name = \(String(count + 1)) WHERE id = 1")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.names() == ["400"])
        #expect(database.statistics.mutations == 401)
    }
}
