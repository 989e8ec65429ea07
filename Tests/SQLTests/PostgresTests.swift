import Dispatch
import SystemSupport
import TestSupport
import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `A PostgreSQL server` {
    private let server = PostgresServer.shared

    @Test(arguments: [
        ("host=/nowhere", "/nowhere"), ("keeper:wrong@", "password"), ("/nothing?", "nothing"),
    ])
    func `that refuses a connection is reported, without the password`(
        wrong: String, reason: String
    ) async throws {
        let url =
            switch wrong {
            case "keeper:wrong@": server.url.replacing("parley@", with: wrong)
            case "/nothing?": server.url.replacing("/parley?", with: wrong)
            default: "postgres://parley@/parley?\(wrong)"
            }
        let error = await expectFault(.unreachable) {
            try Database.open(.server(url), migrations: [])
        }
        let text = try #require(error?.description)
        #expect(text.contains(reason))
        #expect(!text.contains("wrong"))
    }

    @Test func `a server that requires a password receives it`() async throws {
        let url = server.newSchema().replacing("parley@", with: "keeper:sesame@")
        let database = try Database.open(.server(url), migrations: People.migrations)
        try await database.add(1, "Ada")
        #expect(try await database.names() == ["Ada"])
    }

    @Test(arguments: [("disable", false), ("verify-full", true)])
    func `asks for a password over TCP, with TLS and without`(
        mode: String, isSecure: Bool
    ) async throws {
        let url = server.newSchema(overTCPAs: "keeper:sesame")
        let tls = "&sslmode=\(mode)&sslrootcert=\(server.folder)/server.crt"
        let database = try Database.open(.server(url + tls), migrations: People.migrations)
        try await database.add(1, "Ada")
        #expect(try await database.names() == ["Ada"])
        #expect(try await database.read { try $0.isSecure() } == isSecure)
        await expectFault(.unreachable) {
            try Database.open(
                .server(url.replacing(":sesame@", with: ":wrong@") + tls),
                migrations: People.migrations)
        }
    }

    @Test func `a server without a trusted certificate is refused`() async throws {
        let url = server.newSchema(overTCPAs: "keeper:sesame")
        let error = await expectFault(.unreachable) {
            try Database.open(
                .server(
                    "\(url)&sslmode=verify-full&sslrootcert=/etc/ssl/certs/ca-certificates.crt"),
                migrations: [])
        }
        #expect(error?.message.contains("certificate verify failed") == true)
    }

    @Test func `a server without the schema of the search path is refused`() async {
        let url = "\(server.url)&options=-csearch_path%3Dnowhere"
        let error = await expectFault(.other) {
            try Database.open(.server(url), migrations: People.migrations)
        }
        #expect(error?.message == "no schema of the search path exists")
    }

    @Test func `a server accepts ten processes that start at once`() async throws {
        let reopenable = Engine.postgres.reopenable()
        let opened = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 10) { _ in
            guard let database = try? reopenable.open() else { return }
            opened.withLock { $0 += 1 }
            database.close()
        }
        #expect(opened.withLock { $0 } == 10)
        let database = try reopenable.open()
        let count = try await database.read { try $0.appliedMigrations().count }
        #expect(count == 1)
    }

    @Test func `a change is retried on a server that closed its idle connections`() async throws {
        let database = try Engine.postgres.people()
        try await database.add(1, "Ada")
        let writing = try await database.write { try $0.backend() }
        let reading = try await database.read { try $0.backend() }
        server.run("SELECT pg_terminate_backend(\(writing)), pg_terminate_backend(\(reading))")
        try await database.add(2, "Grace")
        #expect(try await database.names() == ["Ada", "Grace"])
    }

    @Test func `a change is repeated once when the server stops during it`() async throws {
        let database = try Engine.postgres.people()
        let runs = Locked(0)
        try await database.write { transaction in
            try transaction.add(1, "Ada")
            let run = runs.withLock { runs in
                runs += 1
                return runs
            }
            if run == 1 { try transaction.closeConnection() }
        }
        #expect(runs.withLock { $0 } == 2)
        #expect(try await database.names() == ["Ada"])
    }

    @Test func `a server that stops during the commit makes the change uncertain`() async throws {
        let database = try Engine.postgres.people()
        let runs = Locked(0)
        try await database.write { transaction in
            try transaction.execute(
                """
                CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'
                """)
            try transaction.execute(
                """
                CREATE CONSTRAINT TRIGGER leaving AFTER INSERT ON people
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION leave()
                """)
        }
        await expectFault(.uncertain) {
            try await database.write { transaction in
                runs.withLock { $0 += 1 }
                try transaction.add(1, "Ada")
            }
        }
        // It must not run twice.
        #expect(runs.withLock { $0 } == 1)
        #expect(try await database.names().isEmpty)
    }

    @Test(arguments: ["40001", "40P01"])
    func `retries a whole batch after a serialization failure`(
        state: String
    ) async throws {
        let database = try Engine.postgres.people()
        let runs = Locked(0)
        let held = await HeldWriter(of: database)
        let results = try await held.run(
            { try $0.add(1, "Ada") },
            { transaction in
                let run = runs.withLock { runs in
                    runs += 1
                    return runs
                }
                if run < 3 { try transaction.fail(state) }
                try transaction.add(2, "Grace")
            },
        )
        #expect(results.successes() == 2)
        #expect(runs.withLock { $0 } == 3)
        #expect(try await database.names() == ["Ada", "Grace"])
    }

    @Test func `a server with a full disk refuses one change and reports the reason`() async throws
    {
        let database = try Engine.postgres.people()
        let held = await HeldWriter(of: database)
        let results = try await held.run(
            { try $0.add(1, "Ada") },
            { try $0.fail("53100") },
            { try $0.add(3, "Grace") },
        )
        #expect(results.faults() == [nil, .diskFull, nil])
        #expect(try await database.names() == ["Ada", "Grace"])
    }

    @Test func `a server whose lock is never released reports it`() async throws {
        let database = try Engine.postgres.people()
        await expectFault(.collided) { try await database.write { try $0.fail("40001") } }
    }

    @Test func `a statement ends at its time limit`() async throws {
        var settings = DatabaseSettings()
        settings.statementTimeout = .milliseconds(200)
        let database = try Engine.postgres.people(settings)
        await expectFault(.timedOut) {
            try await database.read { try $0.rows("SELECT 1 FROM pg_sleep(30)") { _ in 0 } }
        }
        // On a busy machine a short statement may exceed the limit, too.
        for attempt in 1...100 {
            do {
                let names = try await database.names()
                #expect(names.isEmpty)
                break
            } catch let error as SQLError where error.kind == .timedOut && attempt < 100 {}
        }
    }

    @Test func `compares text by bytes, whatever its locale`() async throws {
        let database = try Engine.postgres.people()
        for (id, name) in ["b", "É", "a", "B", "e"].enumerated() {
            try await database.add(id, name)
        }
        let names = try await database.read { transaction in
            try transaction.rows("SELECT name FROM people ORDER BY name") { row in
                try row.text(0)
            }
        }
        #expect(names == ["B", "a", "b", "e", "É"])
    }

    @Test func `finds a hundred of ten thousand keys by their index`() async throws {
        let database = try Engine.postgres.people()
        let plan = try await database.write { transaction in
            // In random order, as messages are by their ids: by default PostgreSQL would scan the table.
            try transaction.execute(
                """
                INSERT INTO people
                SELECT id, 'Ada' FROM generate_series(1, 10000) AS id ORDER BY md5(id::text)
                """)
            try transaction.execute("ANALYZE people")
            return try transaction.rows(
                "EXPLAIN SELECT name FROM people WHERE id \(in: .integers((0..<100).map { $0 * 100 }))"
            ) { row in try row.text(0) }
        }
        #expect(plan.contains { step in step.contains("people_pkey") }, "\(plan)")
    }

    @Test func `keeps no more prepared statements than the limit`() async throws {
        let database = try Engine.postgres.people()
        let count = try await database.write { transaction in
            for number in 0..<PreparedStatements.limit * 2 {
                let statement = SQL(stringLiteral: "SELECT \(number)")
                _ = try transaction.first(statement) { _ in 0 }
            }
            return try transaction.first("SELECT COUNT(*) FROM pg_prepared_statements") { row in
                try row.int(0)
            }
        }
        #expect(count == PreparedStatements.limit)
    }

    @Test func `needs one round trip per change, not per statement`() async throws {
        let database = try Engine.postgres.people()
        try await database.write { transaction in
            for number in 0..<1000 { try transaction.add(number, "x") }
        }
        #expect(try await database.names().count == 1000)
    }

    @Test func `takes two round trips for a change that reads and writes`() async throws {
        let database = try Engine.postgres.people()
        try await database.add(1, "Ada")
        let before = database.statistics.roundTrips
        try await database.write { transaction in
            _ = try transaction.first("SELECT COUNT(*) FROM people") { row in try row.int(0) }
            try transaction.add(2, "Grace")
            try transaction.add(3, "Barbara")
        }
        #expect(database.statistics.roundTrips == before + 2)
    }

    @Test func `a restarted server is used again, and nothing acknowledged is lost`() async throws {
        let own = PostgresServer()
        let database = try Database.open(.server(own.url), migrations: People.migrations)
        try await database.add(1, "Ada")
        own.send(.crash)
        await expectFault(.unreachable) { try await database.add(2, "Grace") }
        await expectFault(.unreachable) { try await database.names() }
        own.send(.start)
        try await database.retrying { try await database.add(3, "Barbara") }
        #expect(try await database.retrying { try await database.names() } == ["Ada", "Barbara"])
        own.run("ALTER SYSTEM SET fsync = off")
        own.run("SELECT pg_reload_conf()")
        // The server reads its settings a moment later.
        var error: SQLError?
        for _ in 0..<600 where error == nil {
            do {
                try Database.open(.server(own.url), migrations: []).close()
                try await Task.sleep(for: .milliseconds(100))
            } catch let fault as SQLError {
                error = fault
            }
        }
        #expect(error?.kind == .other)
        #expect(error?.message.contains("fsync") == true)
        database.close()
    }
}

extension Database {
    /// Runs `work` once the server can be reached again; the pool tries at most every 2 seconds.
    fileprivate func retrying<Value: Sendable>(
        _ work: () async throws -> Value
    ) async throws -> Value {
        for _ in 0..<1200 {
            do {
                return try await work()
            } catch let error as SQLError where error.kind == .unreachable {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        return try await work()
    }
}

extension Transaction {
    fileprivate func backend() throws -> Int {
        try first("SELECT pg_backend_pid()") { row in try row.int(0) } ?? 0
    }

    fileprivate func isSecure() throws -> Bool {
        try first("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") { row in
            try row.bool(0)
        } ?? false
    }

    /// Makes the server close the connection.
    fileprivate func closeConnection() throws {
        _ = try rows("SELECT pg_terminate_backend(pg_backend_pid())") { _ in 0 }
    }

    /// Fails with this SQLSTATE, as the server would.
    fileprivate func fail(_ state: String) throws {
        try execute(
            SQL(stringLiteral: "DO 'BEGIN RAISE EXCEPTION USING ERRCODE = ''\(state)''; END'"))
    }
}
