import SystemSupport
import TestSupport
import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `A change notification` {
    @Test func `is received by other processes once the change is durable`() async throws {
        var processes = try await TwoProcesses(Engine.postgres.reopenable())
        try await processes.sender.write { transaction in
            try transaction.add(1, "Ada")
            transaction.notify("people", 1)
        }
        #expect(await processes.next() == .changed(subject: "people", number: 1))
        #expect(try await processes.receiver.names() == ["Ada"])
    }

    @Test func `is sent once per commit, and not for changes that failed`()
        async throws
    {
        var processes = try await TwoProcesses(Engine.postgres.reopenable())
        let held = await HeldWriter(of: processes.sender)
        _ = try await held.run(
            { $0.notify("b", 2, keeping: { min($0, $1) }) },
            { $0.notify("a", 1) },
            { transaction in
                transaction.notify("c", 1)
                throw People.TestError()
            },
            { $0.notify("a", 7) },
            { $0.notify("b", 1, keeping: { min($0, $1) }) },
        )
        try await processes.sender.write { $0.notify("end", 0) }
        #expect(await processes.next() == .changed(subject: "a", number: 7))
        #expect(await processes.next() == .changed(subject: "b", number: 1))
        #expect(await processes.next() == .changed(subject: "end", number: 0))
    }

    @Test func `that fails does not fail the change, which is durable already`() async throws {
        var processes = try await TwoProcesses(Engine.postgres.reopenable())
        try await processes.sender.write { transaction in
            try transaction.add(1, "Ada")
            // Longer than PostgreSQL accepts.
            transaction.notify(String(repeating: "s", count: 9000), 1)
        }
        try await processes.sender.write { transaction in
            try transaction.add(2, "Grace")
            transaction.notify("people", 2)
        }
        #expect(await processes.next() == .changed(subject: "people", number: 2))
        #expect(try await processes.receiver.names() == ["Ada", "Grace"])
    }

    @Test func `is not received in another schema`() async throws {
        let otherSchema = try Engine.postgres.people()
        var processes = try await TwoProcesses(Engine.postgres.reopenable())
        try await otherSchema.write { $0.notify("elsewhere", 1) }
        try await processes.sender.write { $0.notify("here", 1) }
        #expect(await processes.next() == .changed(subject: "here", number: 1))
    }

    @Test func `is reported as possibly missed after a broken connection`() async throws {
        let reopenable = Engine.postgres.reopenable()
        var processes = try await TwoProcesses(reopenable)
        PostgresServer.shared.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query LIKE 'LISTEN "parley_' || hashtextextended('\(reopenable.schema)', 1985) || '"'
            """)
        #expect(await processes.next() == .missed)
        try await processes.sender.write { $0.notify("again", 1) }
        #expect(await processes.next() == .changed(subject: "again", number: 1))
    }

    @Test func `is not sent by SQLite`() async throws {
        let file = TemporaryFile()
        let database = try file.open()
        let notifications = Locked(0)
        database.listen { _ in notifications.withLock { $0 += 1 } }
        try await database.write { $0.notify("people", 1) }
        database.close()
        #expect(notifications.withLock { $0 } == 0)
    }
}

/// The databases of two processes: one sends, and the other listens.
private struct TwoProcesses {
    let sender: Database
    let receiver: Database
    private var notifications: AsyncStream<ChangeNotification>.Iterator

    /// Returns when the receiver listens.
    init(_ reopenable: ReopenableDatabase) async throws {
        let receiver = try reopenable.open()
        (sender, self.receiver) = (try reopenable.open(), receiver)
        notifications = AsyncStream { continuation in
            receiver.listen { notification in continuation.yield(notification) }
        }.makeAsyncIterator()
        #expect(await notifications.next() == .missed)
    }

    /// The next notification that is received.
    mutating func next() async -> ChangeNotification? { await notifications.next() }
}

extension ReopenableDatabase {
    /// The name of its schema.
    fileprivate var schema: String {
        guard case .server(let url) = location else { return "" }
        return url.split(separator: "%3D").last.map(String.init) ?? ""
    }
}
