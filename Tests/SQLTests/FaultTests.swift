import Dispatch
import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `A fault` {
    @Test func `is reported for a file that is no database`() async {
        let file = TemporaryFile()
        file.overwrite(from: 0, with: Array(repeating: 0x2A, count: 8192))
        await expectFault(.notADatabase) { try file.open() }
    }

    @Test func `is reported for a damaged file`() async throws {
        let file = TemporaryFile()
        let database = try file.open()
        for number in 0..<50 { try await database.add(number, String(repeating: "x", count: 3000)) }
        database.close()
        let size = try #require(file.size(of: ""))
        file.overwrite(from: 4096, with: Array(repeating: 0xFF, count: size - 4096))
        await expectFault(.corrupt) { try await file.open().names() }
    }

    @Test func `is reported for a missing folder`() async {
        await expectFault(.cannotOpen) {
            try Database.open(.file("/nonexistent/database"), migrations: [])
        }
    }

    @Test(arguments: Engine.allCases) func `is reported when another process writes for too long`(
        engine: Engine
    ) async throws {
        let reopenable = engine.reopenable()
        var settings = DatabaseSettings()
        settings.busyTimeout = .zero
        let (database, other) = (try reopenable.open(), try reopenable.open(settings: settings))
        let held = await HeldWriter(of: database)
        await expectFault(.locked) { try await other.add(1, "Ada") }
        _ = try await held.run({ try $0.add(2, "Grace") })
        try await other.add(1, "Ada")
        #expect(try await database.names() == ["Ada", "Grace"])
    }

    @Test func `of a full disk fails one change and leaves the database usable`() async throws {
        let database = try Database.ofPeople(smallDisk)
        await expectFault(.diskFull) { try await database.add(1, tooLong) }
        try await database.add(2, "Grace")
        #expect(try await database.names() == ["Grace"])
    }

    @Test func `of a full disk does not fail other changes of its batch`() async throws {
        let database = try Database.ofPeople(smallDisk)
        let held = await HeldWriter(of: database)
        let long = tooLong
        let results = try await held.run(
            { try $0.add(1, "Ada") },
            { try $0.add(2, long) },
            { try $0.add(3, "Grace") },
        )
        #expect(results.faults() == [nil, .diskFull, nil])
        #expect(try await database.names() == ["Ada", "Grace"])
    }

    @Test(arguments: Engine.allCases)
    func `that ends the transaction commits none of it`(engine: Engine) async throws {
        let database = try engine.people()
        await expectFault(.transactionLost) {
            try await database.write { transaction in
                try transaction.add(1, "Ada")
                try engine.endTransaction(transaction)
                try transaction.add(2, "Grace")
            }
        }
        #expect(try await database.names().isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func `that ends the transaction of a batch fails one change`(engine: Engine) async throws {
        let database = try engine.people()
        let held = await HeldWriter(of: database)
        let results = try await held.run(
            { try $0.add(1, "Ada") },
            { try engine.endTransaction($0) },
            { try $0.add(3, "Grace") },
        )
        #expect(results.faults() == [nil, .transactionLost, nil])
        #expect(try await database.names() == ["Ada", "Grace"])
    }

    @Test(arguments: Engine.allCases) func `shows the statement and not its values`(engine: Engine)
        async throws
    {
        let database = try engine.people()
        let error = await expectFault(.misuse) {
            try await database.write {
                try $0.execute("INSERT INTO pople VALUES (\("secret"))")
            }
        }
        let text = try #require(error?.description)
        #expect(text.contains("INSERT INTO pople VALUES ($1)"))
        #expect(!text.contains("secret"))
    }

    private var smallDisk: DatabaseSettings {
        var settings = DatabaseSettings()
        settings.pageLimit = 16
        return settings
    }

    private var tooLong: String { String(repeating: "x", count: 1_000_000) }
}
