import SystemSupport
import Testing

@testable import SQL

@Suite struct `Rows cached and writes deferred in a commit` {
    @Test(arguments: Engine.allCases) func `is asked once, until somebody changes the table`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "Ada")
        let notifications = try await database.write { transaction in
            let first = try transaction.askName(1)
            let second = try transaction.askName(1)
            try transaction.execute("UPDATE people SET name = 'Grace' WHERE id = 1")
            let third = try transaction.askName(1)
            return (
                isSame: first === second, isAnother: first !== third,
                names: try [first.first(), third.first()]
            )
        }
        #expect(notifications.isSame)
        #expect(notifications.isAnother)
        #expect(notifications.names == ["Ada", "Grace"])
    }

    @Test(arguments: Engine.allCases) func `says what was true when it was asked`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let names = try await database.write { transaction in
            let before = try transaction.ask("SELECT name FROM people") { try $0.text(0) }
            try transaction.add(1, "Ada")
            let after = try transaction.ask("SELECT name FROM people") { try $0.text(0) }
            return (try before.rows(), try after.rows())
        }
        #expect(names == ([], ["Ada"]))
    }

    @Test(arguments: Engine.allCases) func `is written once, before whoever looks at the table`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "0")
        let gate = await Gate(holding: database)
        let results = try await gate.pass(
            { transaction -> String? in
                for _ in 0..<3 { transaction.countUp() }
                return nil
            },
            { transaction in
                transaction.countUp()
                return try transaction.names().first
            },
            { transaction in
                transaction.countUp()
                return nil
            },
        )
        #expect(try results.map { try $0.get() } == [nil, "4", nil])
        #expect(try await database.names() == ["1"])
        #expect(database.statistics.replays == 0)
    }

    @Test(arguments: Engine.allCases) func `adds rows before whoever looks for one of them`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let found = try await database.write { transaction in
            for id in 1...200 { transaction.addLater(id, "x") }
            // Of others he learns without them.
            let other = try transaction.askName(201).first()
            let one = try transaction.askName(7).first()
            return (other, one)
        }
        #expect(found == (nil, "x"))
        #expect(try await database.names().count == 200)
    }

    @Test(arguments: Engine.allCases) func `is kept of all but the change that fails`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let gate = await Gate(holding: database)
        let results = try await gate.pass(
            { $0.addLater(1, "Ada") },
            { $0.addLater(1, "Eve") },
            { $0.addLater(2, "Grace") },
            {
                $0.addLater(3, "Mallory"); throw People.Stranger()
            },
            { $0.addLater(4, "Hedy") },
        )
        #expect(results.faults() == [nil, .notUnique, nil, nil, nil])
        #expect(throws: People.Stranger()) { try results[3].get() }
        #expect(try await database.names() == ["Ada", "Grace", "Hedy"])
        #expect(database.statistics.replays == 1)
    }

    @Test(arguments: Engine.allCases) func `is forgotten with a change that is undone`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "0")
        let gate = await Gate(holding: database)
        let results = try await gate.pass(
            {
                $0.cache("one", for: .name(1)); $0.countUp()
            },
            { transaction in
                transaction.cache("two", for: .name(1))
                transaction.countUp()
                throw People.Stranger()
            },
            { transaction in
                guard try transaction.askName(1).first() == "1" else { throw People.Stranger() }
            },
        )
        #expect(results.successes() == 2)
        #expect(try await database.names() == ["1"])
    }

    @Test(arguments: Engine.allCases) func `is not believed after the commit`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        try await database.write { $0.cache("nobody", for: .name(1)) }
        let known = try await database.write { try $0.cached(.name(1)) }
        #expect(known == nil)
    }

    @Test func `is asked by all before the first of them is run`() async throws {
        let database = try Engine.postgres.people()
        try await database.add(1, "Ada")
        let order = Locked<[String]>([])
        let gate = await Gate(holding: database)
        async let changes = withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...3 {
                group.addTask {
                    try await database.write { transaction in
                        order.withLock { $0.append("ask") }
                        _ = try transaction.askName(number)
                    } _: { transaction in
                        order.withLock { $0.append("run") }
                        _ = try transaction.askName(number).first()
                    }
                }
            }
            try await group.waitForAll()
        }
        while database.writer.waiting < 3 { await Task.yield() }
        _ = try await gate.pass({ _ in })
        try await changes
        #expect(order.withLock { $0 } == ["ask", "ask", "ask", "run", "run", "run"])
    }
}

extension RowCacheKey<String> {
    fileprivate static func name(_ id: Int) -> RowCacheKey<String> {
        RowCacheKey(of: [UInt8(id)], in: "people")
    }
}

extension Transaction {
    fileprivate func askName(_ id: Int) throws -> DeferredRows<String> {
        try ask("SELECT name FROM people WHERE id = \(id)", as: .name(id)) { try $0.text(0) }
    }

    fileprivate func addLater(_ id: Int, _ name: String) {
        add(
            "(\(id), \(name))", to: "people", key: [UInt8(id)],
            by: Insertion("INSERT INTO people (id, name) VALUES"))
    }

    /// Says how often it was called since the row was last written.
    fileprivate func countUp() {
        let row = RowCacheKey<Int>(of: [1], in: "people")
        let count = (deferred(row) ?? 0) + 1
        deferWrite(count, of: row) { "UPDATE people SET name = \(String(count)) WHERE id = 1" }
    }
}
