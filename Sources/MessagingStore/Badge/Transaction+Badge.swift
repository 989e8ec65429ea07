import Messaging
import SQL

extension Transaction {
    /// What was set; `nil` for a user nobody has named.
    func externalUnreadCount(
        of user: UserID, in application: Application.ID
    ) throws -> Int64? {
        try first(
            """
            SELECT external_unread_count FROM identities
            WHERE application = \(application) AND user_id = \(user)
            """
        ) { row in try row.int64(0) }
    }

    /// How many conversations a user sees with something unread in them, and how much.
    ///
    /// Added up when asked for, over those of his rows alone that have something unread, which an index
    /// names: a sum for each user would cost each sending one write more for each participant.
    func unreadCounts(
        of user: UserID, in application: Application.ID
    ) throws -> (conversations: Int64, messages: Int64) {
        let counts = try first(
            """
            SELECT COUNT(*), CAST(COALESCE(SUM(unread_count), 0) AS BIGINT) FROM participants
            WHERE application = \(application) AND user_id = \(user) AND state = 'shown'
                AND unread_count > 0
            """
        ) { row in (conversations: try row.int64(0), messages: try row.int64(1)) }
        return counts ?? (0, 0)
    }
}
