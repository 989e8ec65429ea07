import SystemSupport
import Testing

@testable import SQL

@Suite struct `Rows cached and writes deferred in a commit` {
    @Test(arguments: Engine.allCases) func `rows are read once until the table changes`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "Ada")
        let notifications = try await database.write { transaction in
            let first = try transaction.queryName(1)
            let second = try transaction.queryName(1)
            try transaction.execute("UPDATE people SET name = 'Grace' WHERE id = 1")
            let third = try transaction.queryName(1)
            return (
                isSame: first === second, isAnother: first !== third,
                names: try [first.first(), third.first()]
            )
        }
        #expect(notifications.isSame)
        #expect(notifications.isAnother)
        #expect(notifications.names == ["Ada", "Grace"])
    }

    @Test(arguments: Engine.allCases)
    func `rows with and without values are inserted together`(engine: Engine) async throws {
        let database = try engine.people()
        let inserted: [[SQLValue]] = [
            [.integer(1), .text("a"), .null, .null], [.integer(2), .null, .blob([7]), .null],
            [.integer(3), .text("c\u{0}"), .blob([]), .null],
        ]
        let found = try await database.write { transaction in
            try transaction.execute(
                "CREATE TABLE things (id BIGINT NOT NULL, name TEXT, data BYTEA, size BIGINT)")
            transaction.add(
                inserted.map(InsertedRow.init), to: "things",
                by: Insertion("INSERT INTO things (id, name, data, size) VALUES"))
            return try transaction.rows("SELECT * FROM things ORDER BY id") { row in
                try (0..<4).map { column in try row.value(.index(column)) }
            }
        }
        #expect(found == inserted)
    }

    @Test(arguments: Engine.allCases)
    func `many rows are read after they were added`(engine: Engine) async throws {
        let database = try engine.people()
        let names = try await database.write { transaction in
            let before = try transaction.queryName(1).first()
            transaction.add(
                [InsertedRow([.integer(1), .text("Ada")])], to: "people",
                by: Insertion("INSERT INTO people (id, name) VALUES"))
            return try [before, transaction.queryName(1).first()]
        }
        #expect(names == [nil, "Ada"])
    }

    @Test(arguments: Engine.allCases)
    func `cached rows show the table as it was when they were read`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let names = try await database.write { transaction in
            let before = try transaction.query("SELECT name FROM people") { try $0.text(0) }
            try transaction.add(1, "Ada")
            let after = try transaction.query("SELECT name FROM people") { try $0.text(0) }
            return (try before.rows(), try after.rows())
        }
        #expect(names == ([], ["Ada"]))
    }

    @Test(arguments: Engine.allCases)
    func `deferred updates are written once, before the table is read`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "0")
        let held = await HeldWriter(of: database)
        let results = try await held.run(
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

    @Test(arguments: Engine.allCases)
    func `deferred rows are inserted before one of them is looked up`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let found = try await database.write { transaction in
            for id in 1...200 { transaction.addLater(id, "x") }
            // Rows with other keys are looked up without inserting.
            let other = try transaction.queryName(201).first()
            let one = try transaction.queryName(7).first()
            return (other, one)
        }
        #expect(found == (nil, "x"))
        #expect(try await database.names().count == 200)
    }

    @Test(arguments: Engine.allCases)
    func `a statement runs what is deferred for the tables it names, not for parts of names`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "")
        let found = try await database.write { transaction in
            for table in ["peopl", "name"] {
                transaction.deferWrite((), of: RowCacheKey<Void>(of: [1], in: table)) {
                    SQL(stringLiteral: "UPDATE people SET name = name || '\(table).' WHERE id = 1")
                }
            }
            return try transaction.names()
        }
        #expect(found == ["name."])
        #expect(try await database.names() == ["name.peopl."])
    }

    @Test(arguments: Engine.allCases)
    func `deferred writes of different aspects run in order`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "")
        try await database.write { transaction in
            for (letter, aspect) in [("a", "1"), ("b", "1"), ("c", "2"), ("d", "1")] {
                let row = RowCacheKey<String>(of: [1], in: "people", aspect: Array(aspect.utf8))
                let letters = (transaction.deferred(row) ?? "") + letter
                transaction.deferWrite(letters, of: row) {
                    "UPDATE people SET name = name || \(letters) || '.' WHERE id = 1"
                }
            }
        }
        #expect(try await database.names() == ["ab.c.d."])
    }

    @Test(arguments: Engine.allCases)
    func `a deferred write sees the rows deferred for the other tables that it names`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let counts = try await database.write { transaction in
            // Its writes run first, because tables are written in the order of their names.
            try transaction.execute("CREATE TABLE counts (people BIGINT NOT NULL)")
            for id in 1...3 {
                transaction.deferWrites((), of: RowCacheKey<Void>(of: [1], in: "counts")) {
                    [
                        "INSERT INTO counts SELECT COUNT(*) FROM people",
                        "INSERT INTO counts SELECT COUNT(*) + \(id) FROM people",
                    ]
                }
                transaction.addLater(id, "x")
            }
            return try transaction.rows("SELECT people FROM counts ORDER BY people") { row in
                try row.int64(0)
            }
        }
        #expect(counts == [3, 6])
        #expect(try await database.names().count == 3)
    }

    @Test(arguments: Engine.allCases)
    func `a write that names its rows leaves other cached rows valid`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "Ada")
        try await database.add(2, "Grace")
        try await database.write { transaction in
            let (first, second) = (try transaction.queryName(1), try transaction.queryName(2))
            try transaction.execute(
                "UPDATE people SET name = 'Hedy' WHERE id = 1",
                changing: [RowKey([1], in: "people")])
            #expect(try transaction.queryName(2) === second)
            let changed = try transaction.queryName(1)
            #expect(changed !== first)
            #expect(try changed.first() == "Hedy")
            try transaction.execute(
                "UPDATE people SET name = name WHERE id = 1", reading: [RowKey([1], in: "people")])
            #expect(try transaction.queryName(1) === changed)
            transaction.invalidate([RowKey([1], in: "people")])
            #expect(try transaction.queryName(1) !== changed)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a write that names its rows runs what was deferred for them`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.write { transaction in
            transaction.addLater(1, "Ada")
            try transaction.execute(
                "UPDATE people SET name = name || '.' WHERE id = 1",
                changing: [RowKey([1], in: "people")])
            transaction.addLater(2, "Grace")
            try transaction.execute(
                "UPDATE people SET name = name || '.' WHERE id = 2",
                reading: [RowKey([2], in: "people")])
        }
        #expect(try await database.names() == ["Ada.", "Grace."])
    }

    @Test(arguments: Engine.allCases)
    func `rows read ahead are cached with the key that each has`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "Ada")
        try await database.add(2, "Grace")
        let before = database.statistics.roundTrips
        let names = try await database.write { transaction in
            try transaction.prefetch("SELECT id, name FROM people") { row in
                (RowCacheKey<String>.name(try row.int(0)), try row.text(1))
            }
            try transaction.prefetch("SELECT 3") { row in
                (RowCacheKey<String>.name(try row.int(0)), nil)
            }
            _ = try transaction.queryName(4).first()
            return try (1...3).map { id in try transaction.cachedRows(.name(id)) }
        }
        #expect(names == [["Ada"], ["Grace"], []])
        #expect(engine == .sqlite || database.statistics.roundTrips == before + 2)
    }

    @Test(arguments: Engine.allCases)
    func `rows read ahead are not cached after they have changed`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "Ada")
        let name = try await database.write { transaction in
            try transaction.prefetch("SELECT id, name FROM people") { row in
                (RowCacheKey<String>.name(try row.int(0)), try row.text(1))
            }
            transaction.addLater(2, "Grace")
            try transaction.execute("UPDATE people SET name = 'Eve' WHERE id = 1")
            return try transaction.queryName(1).first()
        }
        #expect(name == "Eve")
    }

    @Test(arguments: Engine.allCases)
    func `deferred rows are stored for all changes but the failing one`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let held = await HeldWriter(of: database)
        let results = try await held.run(
            { $0.addLater(1, "Ada") },
            { $0.addLater(1, "Eve") },
            { $0.addLater(2, "Grace") },
            {
                $0.addLater(3, "Mallory"); throw People.TestError()
            },
            { $0.addLater(4, "Hedy") },
        )
        #expect(results.faults() == [nil, .notUnique, nil, nil, nil])
        #expect(throws: People.TestError()) { try results[3].get() }
        #expect(try await database.names() == ["Ada", "Grace", "Hedy"])
        #expect(database.statistics.replays == 1)
    }

    @Test(arguments: Engine.allCases)
    func `cached rows are dropped with a change that is rolled back`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        try await database.add(1, "0")
        let held = await HeldWriter(of: database)
        let results = try await held.run(
            {
                $0.cache("one", for: .name(1)); $0.countUp()
            },
            { transaction in
                transaction.cache("two", for: .name(1))
                transaction.countUp()
                throw People.TestError()
            },
            { transaction in
                guard try transaction.queryName(1).first() == "1" else { throw People.TestError() }
            },
        )
        #expect(results.successes() == 2)
        #expect(try await database.names() == ["1"])
    }

    @Test(arguments: Engine.allCases) func `cached rows are dropped after the commit`(
        engine: Engine
    )
        async throws
    {
        let database = try engine.people()
        try await database.write { $0.cache("unknown", for: .name(1)) }
        let known = try await database.write { try $0.cached(.name(1)) }
        #expect(known == nil)
    }

    @Test(arguments: Engine.allCases)
    func `writes of a group are made together, each row's last one in order with others`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        for id in 1...4 { try await database.add(id, "") }
        try await database.write { transaction in
            for (id, letter) in [(1, "a"), (2, "b"), (1, "c"), (3, "d"), (2, "e")] {
                // All have the same key, as the rows of one conversation do.
                transaction.deferAppending(letter, to: id, key: 9)
            }
            // Another write of the row in between runs in order.
            transaction.deferAppending("f", to: 4, key: 4)
            transaction.deferWrite((), of: RowCacheKey<Void>(of: [4], in: "people")) {
                "UPDATE people SET name = name || '!' WHERE id = 4"
            }
            transaction.deferAppending("g", to: 4, key: 4)
        }
        // The number is that of the writes made together.
        #expect(try await database.names() == ["c3", "e3", "d3", "f1!g1"])
    }

    @Test func `a query ahead is sent once for the items of all changes`() async throws {
        let database = try Engine.postgres.people()
        try await database.add(1, "Ada")
        try await database.add(2, "Grace")
        let (queries, names) = (Locked<[[Int]]>([]), Locked<[String?]>([]))
        let held = await HeldWriter(of: database)
        async let changes = withThrowingTaskGroup(of: Void.self) { group in
            for number in [1, 2, 3, 2] {
                group.addTask {
                    try await database.write { transaction in
                        transaction.prefetch(number, by: CommitGroup("names", in: [])) {
                            transaction, ids in
                            queries.withLock { $0.append(ids.sorted()) }
                            try transaction.prefetchRows(
                                """
                                SELECT column1, name
                                FROM \(table: "named", of: [.integers(ids.map(Int64.init))])
                                LEFT JOIN people ON id = column1
                                """
                            ) { row, prefetched in
                                prefetched.store(
                                    try row.optionalText(1), for: .name(try row.int(0)))
                            }
                        }
                    } _: { transaction in
                        let found = try transaction.cachedRows(.name(number))
                        names.withLock { $0.append(found.map { $0.first ?? "none" }) }
                    }
                }
            }
            try await group.waitForAll()
        }
        while database.writer.waiting < 4 { await Task.yield() }
        _ = try await held.run({ _ in })
        try await changes
        #expect(queries.withLock { $0 } == [[1, 2, 3]])
        #expect(Set(names.withLock { $0 }) == ["Ada", "Grace", "none"])
        #expect(names.withLock { $0.count } == 4)
    }

    @Test func `all changes prefetch before the first of them runs`() async throws {
        let database = try Engine.postgres.people()
        try await database.add(1, "Ada")
        let order = Locked<[String]>([])
        let held = await HeldWriter(of: database)
        async let changes = withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...3 {
                group.addTask {
                    try await database.write { transaction in
                        order.withLock { $0.append("query") }
                        _ = try transaction.queryName(number)
                    } _: { transaction in
                        order.withLock { $0.append("run") }
                        _ = try transaction.queryName(number).first()
                    }
                }
            }
            try await group.waitForAll()
        }
        while database.writer.waiting < 3 { await Task.yield() }
        _ = try await held.run({ _ in })
        try await changes
        #expect(order.withLock { $0 } == ["query", "query", "query", "run", "run", "run"])
    }
}

extension RowCacheKey<String> {
    fileprivate static func name(_ id: Int) -> RowCacheKey<String> {
        RowCacheKey(of: [UInt8(id)], in: "people")
    }
}

extension Transaction {
    fileprivate func queryName(_ id: Int) throws -> DeferredRows<String> {
        try query("SELECT name FROM people WHERE id = \(id)", as: .name(id)) { try $0.text(0) }
    }

    fileprivate func addLater(_ id: Int, _ name: String) {
        add(
            "(\(id), \(name))", to: "people", keys: [UInt8(id)],
            by: Insertion("INSERT INTO people (id, name) VALUES"))
    }

    /// Appends a text and the number of the writes that are made together.
    fileprivate func deferAppending(_ text: String, to id: Int, key: UInt8) {
        let row = RowCacheKey<(id: Int64, text: String)>(
            of: [key], in: "people", aspect: [UInt8(id)])
        deferWrite((Int64(id), text), of: row, in: CommitGroup("appending", in: [])) { rows in
            [
                """
                UPDATE people SET name = name || column2 || \(String(rows.count))
                FROM \(table: "new", of: [
                    .integers(rows.map(\.id)), .texts(rows.map(\.text)),
                ])
                WHERE id = column1
                """
            ]
        }
    }

    /// Counts its calls since the row was last written.
    fileprivate func countUp() {
        let row = RowCacheKey<Int>(of: [1], in: "people")
        let count = (deferred(row) ?? 0) + 1
        deferWrite(count, of: row) { "UPDATE people SET name = \(String(count)) WHERE id = 1" }
    }
}
