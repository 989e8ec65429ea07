import Messaging
import SQL

extension Transaction {
    func application(_ id: Application.ID) throws -> Application? {
        try first(
            """
            SELECT application, name, created_at, is_suspended, session_lifetime FROM applications
            WHERE application = \(id)
            """
        ) { row in try Application(row) }
    }

    /// How many conversations of an application live.
    func conversationCount(in id: Application.ID) throws -> Int64 {
        try first("SELECT conversation_count FROM applications WHERE application = \(id)") { row in
            try row.int64(0)
        } ?? 0
    }

    /// How many users an application has.
    func userCount(in id: Application.ID) throws -> Int64 {
        try first("SELECT user_count FROM applications WHERE application = \(id)") { row in
            try row.int64(0)
        } ?? 0
    }
}

extension Application {
    /// From the columns `application, name, created_at, is_suspended, session_lifetime`.
    init(_ row: borrowing Row) throws {
        self.init(
            id: try row.id(0), name: try row.text(1), createdAt: try row.timestamp(2),
            isSuspended: try row.bool(3), sessionLifetime: try row.optionalInt64(4))
    }
}

extension Token {
    /// From the columns `id, application, scope, created_at, expires_at, revoked_at`.
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
