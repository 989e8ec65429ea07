import Testing

@testable import SQL

@Suite struct `A statement` {
    @Test func `binds what is interpolated in order`() {
        let (name, id): (String?, Int64) = (nil, 7)
        let statement: SQL = "SELECT \(raw: "name") FROM people WHERE id = \(id) AND name = \(name)"
        #expect(statement.text == "SELECT name FROM people WHERE id = $1 AND name = $2")
        #expect(statement.values == [.integer(7), .null])
    }

    @Test func `spreads a list`() {
        let statement: SQL =
            "id IN (\(list: [1, 2, 3])) AND name = \("x") AND id IN (\(list: [Int]()))"
        #expect(statement.text == "id IN ($1, $2, $3) AND name = $4 AND id IN (NULL)")
        #expect(statement.values == [.integer(1), .integer(2), .integer(3), .text("x")])
    }

    @Test(
        arguments: [
            .null, .integer(.min), .integer(.max), .integer(0), .text(""), .text("a\u{0}b"),
            .text("é€😀'\""), .text("\u{FFFF}0\u{FFFF}1\u{FFFE}"), .blob([]), .blob([0, 255, 0]),
            .blob([UInt8](repeating: 7, count: 100_000)),
        ] as [SQLValue], Engine.allCases)
    func `returns the values that were bound`(value: SQLValue, engine: Engine) async throws {
        let database = try engine.people()
        let found = try await database.read { transaction in
            try transaction.first("SELECT \(value) AS value") { row in try row.value("value") }
        }
        #expect(found == value)
    }

    @Test(arguments: Engine.allCases) func `reads each type as itself`(engine: Engine) async throws
    {
        let database = try engine.people()
        let statement: SQL = "SELECT \(1) AS one, \("x") AS text, \([1, 2] as [UInt8]) AS bytes"
        let row = try await database.read { transaction in
            try transaction.first(statement) { row in
                (try row.bool("one"), try row.int(0), try row.text("text"), try row.blob(2))
            }
        }
        #expect(try #require(row) == (true, 1, "x", [1, 2]))
    }

    @Test(arguments: Engine.allCases) func `reads NULL only as optional`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        let row = try await database.read { transaction in
            try transaction.first("SELECT NULL AS missing") { row in
                [
                    try row.isNull("missing"), try row.optionalInt64("missing") == nil,
                    try row.optionalText("missing") == nil, try row.optionalBlob("missing") == nil,
                ]
            }
        }
        #expect(row == [true, true, true, true])
    }

    /// A read of a column as another type.
    struct WrongTypeRead: CustomTestStringConvertible {
        let testDescription: String
        let read: @Sendable (borrowing Row) throws -> Void

        init(_ name: String, _ read: @escaping @Sendable (borrowing Row) throws -> Void) {
            testDescription = name
            self.read = read
        }
    }

    @Test(
        arguments: [
            WrongTypeRead("text as number") { row in _ = try row.int64("text") },
            WrongTypeRead("number as text") { row in _ = try row.text("one") },
            WrongTypeRead("number as optional text") { row in _ = try row.optionalText("one") },
            WrongTypeRead("text as bytes") { row in _ = try row.blob("text") },
            WrongTypeRead("two as truth") { row in _ = try row.bool("two") },
            WrongTypeRead("NULL as number") { row in _ = try row.int64("missing") },
            WrongTypeRead("NULL as text") { row in _ = try row.text("missing") },
            WrongTypeRead("an absent name") { row in _ = try row.text("absent") },
            WrongTypeRead("beyond the last") { row in _ = try row.text(4) },
            WrongTypeRead("before the first") { row in _ = try row.text(-1) },
        ], Engine.allCases)
    func `converts nothing`(wrongTypeRead: WrongTypeRead, engine: Engine) async throws {
        let database = try engine.people()
        await expectFault(.typeMismatch) {
            try await database.read { transaction in
                _ = try transaction.first(
                    "SELECT 1 AS one, 'x' AS text, NULL AS missing, 2 AS two", wrongTypeRead.read)
            }
        }
    }

    @Test(arguments: Engine.allCases) func `counts the rows it changes`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let counts = try await database.write { transaction in
            [
                try transaction.rowsChanged(by: "INSERT INTO people VALUES (1, 'Ada'), (2, 'Bo')"),
                try transaction.rowsChanged(by: "UPDATE people SET name = 'Eve' WHERE id > \(0)"),
                try transaction.rowsChanged(by: "SELECT * FROM people"),
                try transaction.rowsChanged(by: "CREATE INDEX names ON people (name)"),
                try transaction.rowsChanged(by: "DELETE FROM people WHERE id = \(9)"),
            ]
        }
        #expect(counts == [2, 2, 0, 0, 0])
    }

    @Test(arguments: Engine.allCases) func `changes all its rows before it returns the first`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let first = try await database.write { transaction in
            try transaction.first(
                "INSERT INTO people VALUES (1, 'Ada'), (2, 'Grace') RETURNING name"
            ) { row in try row.text("name") }
        }
        #expect(first == "Ada")
        #expect(try await database.names() == ["Ada", "Grace"])
    }

    @Test(arguments: Engine.allCases) func `accepts values of other types for the same text`(
        engine: Engine
    ) async throws {
        let database = try engine.people()
        let values: [SQLValue] = [.null, .integer(1), .text("x"), .null, .blob([1]), .integer(2)]
        let found = try await database.read { transaction in
            try values.map { value in
                try transaction.first("SELECT \(value) AS value") { row in try row.value(0) }
            }
        }
        #expect(found == values)
    }

    @Test func `is prepared once`() throws {
        let connection = try connection()
        let before = connection.preparedCount
        for number in 0..<10 {
            let found = try connection.read { transaction in
                try transaction.first("SELECT \(number)") { row in try row.int(0) }
            }
            #expect(found == number)
        }
        // The statement, and the two that begin and end a transaction.
        #expect(connection.preparedCount == before + 3)
    }

    @Test func `is not cached beyond the limit`() throws {
        let connection = try connection()
        for number in 0..<SQLiteConnection.statementLimit * 2 {
            try connection.run("SELECT \(number)")
        }
        #expect(connection.preparedCount == SQLiteConnection.statementLimit)
    }

    @Test(arguments: Engine.allCases) func `can be used while its rows are read`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        for (id, name) in ["Ada", "Grace"].enumerated() { try await database.add(id, name) }
        let pairs = try await database.read { transaction in
            try transaction.rows("SELECT name FROM people ORDER BY id") { row in
                [try row.text(0)] + (try transaction.names())
            }
        }
        #expect(pairs == [["Ada", "Ada", "Grace"], ["Grace", "Ada", "Grace"]])
    }

    @Test(arguments: Engine.allCases) func `can be used again after a closure threw`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        try await database.add(1, "Ada")
        let names = try await database.write { transaction in
            #expect(throws: People.TestError()) {
                try transaction.rows("SELECT name FROM people ORDER BY id") { _ in
                    throw People.TestError()
                }
            }
            return try transaction.names()
        }
        #expect(names == ["Ada"])
    }

    @Test(
        arguments: ["", "SELECT 1; SELECT 2", "SELEKT", "SELECT $1", "-- nothing"], Engine.allCases)
    func `must be exactly one`(text: String, engine: Engine) async throws {
        let database = try engine.people()
        await expectFault(.misuse) {
            try await database.read { try $0.rows(SQL(stringLiteral: text)) { _ in 0 } }
        }
    }

    private func connection() throws -> SQLiteConnection {
        try SQLiteConnection(path: ":memory:", access: .readWrite, busyTimeout: .zero)
    }
}
