import Testing

@testable import SQL

@Suite struct `A statement` {
    @Test func `binds what is interpolated in order`() {
        let (name, id): (String?, Int64) = (nil, 7)
        let statement: SQL = "SELECT \(raw: "name") FROM people WHERE id = \(id) AND name = \(name)"
        #expect(statement.text == "SELECT name FROM people WHERE id = $1 AND name = $2")
        #expect(statement.values == [.integer(7), .null])
    }

    @Test func `binds a list as one array, and on SQLite as a power of two of values`() {
        let statement: SQL =
            """
            id \(in: .integers([1, 2, 3])) AND name = \("x") AND id \(notIn: .texts(["a"]))
            AND id \(in: .blobs([]))
            """
        #expect(
            statement.text == "id = ANY($1) AND name = $2 AND id <> ALL($3)\nAND id = ANY($4)")
        let spread = statement.spreadingArrays()
        #expect(
            spread.text == "id IN ($1, $2, $3, $4) AND name = $5 AND id NOT IN ($6)\nAND id IN ()")
        #expect(
            spread.values == [
                .integer(1), .integer(2), .integer(3), .integer(3), .text("x"), .text("a"),
            ])
    }

    @Test func `binds a table as one array for each column, and on SQLite as rows`() {
        let statement: SQL =
            "SELECT * FROM \(table: "t", of: [.integers([1, 2]), .texts(["a", "b"])]) WHERE \(7) = 7"
        #expect(
            statement.text == "SELECT * FROM unnest($1, $2) AS t(column1, column2) WHERE $3 = 7")
        let spread = statement.spreadingArrays()
        #expect(
            spread.text == "SELECT * FROM (VALUES ($1, $2), ($3, $4)) AS t WHERE $5 = 7")
        #expect(
            spread.values == [.integer(1), .text("a"), .integer(2), .text("b"), .integer(7)])
    }

    @Test(
        arguments: [
            .integers([.min, -1, 0, .max]), .texts(["", "é€😀", "a\u{0}b", "\u{FFFF}0"]),
            .blobs([[], [0, 255], [UInt8](repeating: 7, count: 70_000)]), .integers([]), .texts([]),
            .blobs([]),
        ] as [SQLArray], Engine.allCases)
    func `finds the values of a list and a table`(list: SQLArray, engine: Engine) async throws {
        let database = try engine.people()
        let values = (0..<list.count).map { index in list[index] }
        try await database.read { transaction in
            for value in values {
                let found = try transaction.first(
                    "SELECT CASE WHEN \(value) \(in: list) THEN 1 ELSE 0 END"
                ) { row in try row.int64(0) }
                #expect(found == 1)
            }
            let absent: SQLValue =
                switch list {
                case .integers: .integer(5)
                case .texts: .text("absent")
                case .blobs, .values: .blob([5])
                }
            let isAbsent = try transaction.first(
                """
                SELECT CASE WHEN \(absent) \(notIn: list) THEN 1 ELSE 0 END,
                    CASE WHEN \(absent) \(in: list) THEN 1 ELSE 0 END
                """
            ) { row in (try row.int64(0), try row.int64(1)) }
            let (absence, presence) = try #require(isAbsent)
            #expect(absence == 1 && presence == 0)
            guard !values.isEmpty else { return }
            let rows = try transaction.rows(
                "SELECT column1, column2 FROM \(table: "t", of: [list, list])"
            ) { row in [try row.value(0), try row.value(1)] }
            #expect(Set(rows) == Set(values.map { value in [value, value] }))
        }
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
            WrongTypeRead("two as a boolean") { row in _ = try row.bool("two") },
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
