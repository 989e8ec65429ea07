import Messaging
import SQL

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

    /// Gives an application the name and the time of one elsewhere.
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
