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

    /// Adds to the number of users and of live conversations of the application, which lists answer
    /// without counting rows; the row is written once for all changes of a commit.
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
