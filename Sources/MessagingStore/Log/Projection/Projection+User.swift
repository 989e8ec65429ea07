import Messaging
import SQL

extension Projection {
    func setBadge(of user: UserID, to count: Int64) throws {
        try transaction.execute(
            """
            UPDATE identities SET external_unread_count = \(count)
            WHERE application = \(application) AND user_id = \(user)
            """)
    }

    /// Setting a user free again does not bring back the sessions his suspension ended (platform-api §5.11).
    func suspend(_ user: UserID, _ isSuspended: Bool, at moment: Timestamp) throws {
        try know([user])
        try transaction.execute(
            """
            UPDATE identities SET is_suspended = \(isSuspended)
            WHERE application = \(application) AND user_id = \(user)
            """)
        if isSuspended { try endSessions(of: user, at: moment) }
    }

    func endSessions(of user: UserID, at moment: Timestamp) throws {
        try transaction.execute(
            """
            UPDATE identities SET sessions_ended_at = \(moment)
            WHERE application = \(application) AND user_id = \(user)
            """)
    }

    func setSessionLifetime(_ seconds: Int64) throws {
        try transaction.execute(
            """
            UPDATE applications SET session_lifetime = \(seconds)
            WHERE application = \(application)
            """)
    }
}
