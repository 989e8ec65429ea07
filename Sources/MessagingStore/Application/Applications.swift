public import Messaging
import SQL

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

    /// An application; `nil` if none has this id.
    public func application(_ id: Application.ID) async throws -> Application? {
        try await database.read { transaction in try transaction.application(id) }
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
    /// Reads the columns `id, application, scope, created_at, expires_at, revoked_at`.
    init(_ row: borrowing Row) throws {
        guard let scope = Scope(rawValue: try row.text(2)) else {
            throw StoreFault.unreadable("tokens.scope")
        }
        self.init(
            id: try row.id(0), application: try row.id(1), scope: scope,
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
            INSERT INTO tokens (application, id, scope, created_at, expires_at, revoked_at, digest)
            VALUES (
                \(application), \(token.id), \(token.scope.rawValue), \(token.createdAt),
                \(token.expiresAt), \(token.revokedAt), \(digest)
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
