import SystemSupport
import TestSupport
import Testing

@testable import SQL
@testable import SQLPostgres

@Suite struct `A hint` {
    @Test func `is notifications by other processes once the change is durable`() async throws {
        let place = Engine.postgres.lasting()
        let (telling, listening) = (try place.open(), try place.open())
        var notifications = listening.notifications().makeAsyncIterator()
        #expect(await notifications.next() == .missed)
        try await telling.write { transaction in
            try transaction.add(1, "Ada")
            transaction.notify("people", 1)
        }
        #expect(await notifications.next() == .told(subject: "people", number: 1))
        #expect(try await listening.names() == ["Ada"])
    }

    @Test func `is said once for all changes of a commit, and not for those that failed`()
        async throws
    {
        let place = Engine.postgres.lasting()
        let (telling, listening) = (try place.open(), try place.open())
        var notifications = listening.notifications().makeAsyncIterator()
        #expect(await notifications.next() == .missed)
        let held = await HeldWriter(of: telling)
        _ = try await held.run(
            { $0.notify("b", 2, keeping: { min($0, $1) }) },
            { $0.notify("a", 1) },
            { transaction in
                transaction.notify("c", 1)
                throw People.Stranger()
            },
            { $0.notify("a", 7) },
            { $0.notify("b", 1, keeping: { min($0, $1) }) },
        )
        try await telling.write { $0.notify("end", 0) }
        #expect(await notifications.next() == .told(subject: "a", number: 7))
        #expect(await notifications.next() == .told(subject: "b", number: 1))
        #expect(await notifications.next() == .told(subject: "end", number: 0))
    }

    @Test func `is not notifications in another schema`() async throws {
        let place = Engine.postgres.lasting()
        let (telling, listening) = (try place.open(), try place.open())
        let stranger = try Engine.postgres.people()
        var notifications = listening.notifications().makeAsyncIterator()
        #expect(await notifications.next() == .missed)
        try await stranger.write { $0.notify("elsewhere", 1) }
        try await telling.write { $0.notify("here", 1) }
        #expect(await notifications.next() == .told(subject: "here", number: 1))
    }

    @Test func `may be missed while the connection is broken, which is said`() async throws {
        let place = Engine.postgres.lasting()
        let (telling, listening) = (try place.open(), try place.open())
        var notifications = listening.notifications().makeAsyncIterator()
        #expect(await notifications.next() == .missed)
        PostgresServer.shared.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query LIKE 'LISTEN "parley_' || hashtextextended('\(place.schema)', 1985) || '"'
            """)
        #expect(await notifications.next() == .missed)
        try await telling.write { $0.notify("again", 1) }
        #expect(await notifications.next() == .told(subject: "again", number: 1))
    }

    @Test func `is not sent where the database is a file`() async throws {
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
    /// What is notifications, in order.
    fileprivate func notifications() -> AsyncStream<ChangeNotification> {
        AsyncStream { continuation in
            listen { hint in continuation.yield(hint) }
        }
    }
}

extension Place {
    /// The name of its schema.
    fileprivate var schema: String {
        guard case .server(let url) = location else { return "" }
        return url.split(separator: "%3D").last.map(String.init) ?? ""
    }
}
