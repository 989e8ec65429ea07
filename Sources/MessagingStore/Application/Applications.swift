public import Messaging
import SQL

/// An application with its counters, which are stored, so that nothing is counted.
public struct ApplicationCounts: Equatable, Sendable {
    /// The application.
    public let application: Application
    /// The number of users.
    public let users: Int64
    /// The number of conversations that are not deleted.
    public let conversations: Int64
    /// The number of messages in them that are not deleted.
    public let messages: Int64
    /// The bytes of all contents.
    public let contentBytes: Int64
}

extension MessagingStore {
    /// Creates an application, or returns the existing one with this id.
    ///
    /// - Parameter id: `nil` for a new id.
    public func createApplication(
        name: String, id: Application.ID? = nil
    ) async throws -> Application {
        let id = id ?? environment.newID()
        return try await change(in: id) { context in
            if let known = try context.transaction.application(id) { return known }
            let application = Application(id: id, name: name, createdAt: context.now)
            try context.record(.applicationCreated(ApplicationCreated(application: application)))
            return application
        }
    }

    /// All applications, oldest first.
    public func applications() async throws -> [Application] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT application, name, created_at, is_suspended, session_lifetime FROM applications
                ORDER BY created_at, application
                """
            ) { row in try Application(row) }
        }
    }

    /// The applications with an id above another, by id, with their counters.
    ///
    /// - Parameter only: An application to which the list is limited.
    public func applicationCounts(
        after id: Application.ID? = nil, only: Application.ID? = nil, limit: Int
    ) async throws -> [ApplicationCounts] {
        let start: SQL = id.map { id -> SQL in "AND a.application > \(id)" } ?? ""
        let one: SQL = only.map { only -> SQL in "AND a.application = \(only)" } ?? ""
        return try await database.read { transaction in
            try transaction.rows(
                """
                SELECT a.application, a.name, a.created_at, a.is_suspended, a.session_lifetime,
                    a.user_count, a.conversation_count, COALESCE(p.message_count, 0),
                    a.content_bytes
                FROM applications a LEFT JOIN log_positions p ON p.application = a.application
                WHERE a.application IS NOT NULL \(start) \(one)
                ORDER BY a.application LIMIT \(limit)
                """
            ) { row in
                ApplicationCounts(
                    application: try Application(row), users: try row.int64(5),
                    conversations: try row.int64(6), messages: try row.int64(7),
                    contentBytes: try row.int64(8))
            }
        }
    }

    /// An application; `nil` if none has this id.
    public func application(_ id: Application.ID) async throws -> Application? {
        try await database.read { transaction in try transaction.application(id) }
    }

    /// Changes the name of an application; repeating it changes nothing.
    ///
    /// - Throws: `Rejection.notFound(.application)`.
    public func renameApplication(_ id: Application.ID, _ name: String) async throws {
        try await change(in: id) { context in
            guard let application = try context.transaction.application(id) else {
                throw Rejection.notFound(.application)
            }
            guard application.name != name else { return }
            try context.record(
                .applicationRenamed(ApplicationRenamed(application: id, name: name)))
        }
        grantCache.clear()
        sessionCache.clear()
        consoleCache.clear()
    }

    /// Suspends or resumes an application; repeating it changes nothing.
    ///
    /// - Throws: `Rejection.notFound(.application)`.
    public func suspendApplication(_ id: Application.ID, _ isSuspended: Bool) async throws {
        try await change(in: id) { context in
            guard let application = try context.transaction.application(id) else {
                throw Rejection.notFound(.application)
            }
            guard application.isSuspended != isSuspended else { return }
            try context.record(
                .applicationSuspended(
                    ApplicationSuspended(application: id, isSuspended: isSuspended)))
        }
        grantCache.clear()
        sessionCache.clear()
        consoleCache.clear()
    }
}

extension MessagingStore {
    /// Sets the lifetime of the sessions that begin from now on (R94).
    ///
    /// - Parameter seconds: Within `Application.sessionLifetimes`.
    /// - Throws: `Rejection.notFound(.application)`.
    public func setSessionLifetime(
        _ seconds: Int64, of application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            guard let known = try context.transaction.application(application) else {
                throw Rejection.notFound(.application)
            }
            guard known.sessionLifetime != seconds else { return }
            try context.record(.sessionLifetimeSet(SessionLifetimeSet(seconds: seconds)))
        }
        grantCache.clear()
    }
}

extension Transaction {
    func application(_ id: Application.ID) throws -> Application? {
        try first(
            """
            SELECT application, name, created_at, is_suspended, session_lifetime FROM applications
            WHERE application = \(id)
            """
        ) { row in try Application(row) }
    }

    /// The number of live conversations of an application.
    func conversationCount(in id: Application.ID) throws -> Int64 {
        try first("SELECT conversation_count FROM applications WHERE application = \(id)") { row in
            try row.int64(0)
        } ?? 0
    }

    /// The number of users of an application.
    func userCount(in id: Application.ID) throws -> Int64 {
        try first("SELECT user_count FROM applications WHERE application = \(id)") { row in
            try row.int64(0)
        } ?? 0
    }
}

extension Application {
    /// Reads the columns `application, name, created_at, is_suspended, session_lifetime`.
    init(_ row: borrowing Row) throws {
        self.init(
            id: try row.id(0), name: try row.text(1), createdAt: try row.timestamp(2),
            isSuspended: try row.bool(3), sessionLifetime: try row.optionalInt64(4))
    }
}

extension Token {
    /// Reads the columns `id, application, scope, created_at, expires_at, revoked_at, name`.
    init(_ row: borrowing Row) throws {
        guard let scope = Scope(rawValue: try row.text(2)) else {
            throw StoreFault.unreadable("tokens.scope")
        }
        self.init(
            id: try row.id(0), name: try row.optionalText(6), application: try row.id(1),
            scope: scope,
            createdAt: try row.timestamp(3), expiresAt: try row.optionalTimestamp(4),
            revokedAt: try row.optionalTimestamp(5))
    }
}

extension Projection {
    func create(_ application: Application) throws {
        try transaction.execute(
            """
            INSERT INTO applications (application, name, created_at, is_suspended)
            VALUES (
                \(application.id), \(application.name), \(application.createdAt),
                \(application.isSuspended)
            )
            """)
    }

    /// Sets the name and creation time of an imported application.
    func rename(_ application: Application) throws {
        try transaction.execute(
            """
            UPDATE applications SET name = \(application.name), created_at = \(application.createdAt)
            WHERE application = \(application.id)
            """)
    }

    func rename(_ id: Application.ID, _ name: String) throws {
        try transaction.execute(
            "UPDATE applications SET name = \(name) WHERE application = \(id)")
    }

    func suspend(_ id: Application.ID, _ isSuspended: Bool) throws {
        try transaction.execute(
            "UPDATE applications SET is_suspended = \(isSuspended) WHERE application = \(id)")
    }

    /// Adds to the numbers of users and live conversations of the application, so that lists need not count
    /// rows. The row is written once for all changes of a commit.
    func addToCounts(users: Int64 = 0, conversations: Int64 = 0) {
        let row = RowCacheKey<(users: Int64, conversations: Int64)>(
            of: application.bytes, in: "applications")
        let before = transaction.deferred(row) ?? (0, 0)
        let added = (
            users: before.users + users, conversations: before.conversations + conversations
        )
        transaction.deferWrite(added, of: row) { [application] in
            """
            UPDATE applications SET
                user_count = user_count + \(added.users),
                conversation_count = conversation_count + \(added.conversations)
            WHERE application = \(application)
            """
        }
    }

    func create(_ token: Token, _ digest: [UInt8]) throws {
        try transaction.execute(
            """
            INSERT INTO tokens (
                application, id, scope, created_at, expires_at, revoked_at, digest, name
            ) VALUES (
                \(application), \(token.id), \(token.scope.rawValue), \(token.createdAt),
                \(token.expiresAt), \(token.revokedAt), \(digest), \(token.name)
            )
            """)
    }

    func revoke(_ id: Token.ID, at moment: Timestamp) throws {
        try transaction.execute(
            """
            UPDATE tokens SET revoked_at = \(moment)
            WHERE application = \(application) AND id = \(id)
            """)
    }
}
