import SystemSupport
import TestSupport
import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `A change notification` {
    @Test func `is received by other processes once the change is durable`() async throws {
        let reopenable = Engine.postgres.reopenable()
        let (sender, receiver) = (try reopenable.open(), try reopenable.open())
        var notifications = receiver.notifications().makeAsyncIterator()
        #expect(await notifications.next() == .missed)
        try await sender.write { transaction in
            try transaction.add(1, "Ada")
            transaction.notify("people", 1)
        }
        #expect(await notifications.next() == .changed(subject: "people", number: 1))
        #expect(try await receiver.names() == ["Ada"])
    }

    @Test func `is sent once per commit, and not for changes that failed`()
        async throws
    {
        let reopenable = Engine.postgres.reopenable()
        let (sender, receiver) = (try reopenable.open(), try reopenable.open())
        var notifications = receiver.notifications().makeAsyncIterator()
        #expect(await notifications.next() == .missed)
        let held = await HeldWriter(of: sender)
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
        try await sender.write { $0.notify("end", 0) }
        #expect(await notifications.next() == .changed(subject: "a", number: 7))
        #expect(await notifications.next() == .changed(subject: "b", number: 1))
        #expect(await notifications.next() == .changed(subject: "end", number: 0))
    }

    @Test func `that fails does not fail the change, which is durable already`() async throws {
        let reopenable = Engine.postgres.reopenable()
        let (sender, receiver) = (try reopenable.open(), try reopenable.open())
        var notifications = receiver.notifications().makeAsyncIterator()
        #expect(await notifications.next() == .missed)
        try await sender.write { transaction in
            try transaction.add(1, "Ada")
            // Longer than PostgreSQL accepts.
            transaction.notify(String(repeating: "s", count: 9000), 1)
        }
        try await sender.write { transaction in
            try transaction.add(2, "Grace")
            transaction.notify("people", 2)
        }
        #expect(await notifications.next() == .changed(subject: "people", number: 2))
        #expect(try await receiver.names() == ["Ada", "Grace"])
    }

    @Test func `is not received in another schema`() async throws {
        let reopenable = Engine.postgres.reopenable()
        let (sender, receiver) = (try reopenable.open(), try reopenable.open())
        let otherSchema = try Engine.postgres.people()
        var notifications = receiver.notifications().makeAsyncIterator()
        #expect(await notifications.next() == .missed)
        try await otherSchema.write { $0.notify("elsewhere", 1) }
        try await sender.write { $0.notify("here", 1) }
        #expect(await notifications.next() == .changed(subject: "here", number: 1))
    }

    @Test func `is reported as possibly missed after a broken connection`() async throws {
        let reopenable = Engine.postgres.reopenable()
        let (sender, receiver) = (try reopenable.open(), try reopenable.open())
        var notifications = receiver.notifications().makeAsyncIterator()
        #expect(await notifications.next() == .missed)
        PostgresServer.shared.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query LIKE 'LISTEN "parley_' || hashtextextended('\(reopenable.schema)', 1985) || '"'
            """)
        #expect(await notifications.next() == .missed)
        try await sender.write { $0.notify("again", 1) }
        #expect(await notifications.next() == .changed(subject: "again", number: 1))
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

extension Database {
    /// The received notifications, in order.
    fileprivate func notifications() -> AsyncStream<ChangeNotification> {
        AsyncStream { continuation in
            listen { notification in continuation.yield(notification) }
        }
    }
}

extension ReopenableDatabase {
    /// The name of its schema.
    fileprivate var schema: String {
        guard case .server(let url) = location else { return "" }
        return url.split(separator: "%3D").last.map(String.init) ?? ""
    }
}
