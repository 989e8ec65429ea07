public import Messaging
import SQL

extension MessagingStore {
    /// A user's badge: the external count as set, and the counts of unread conversations and messages.
    ///
    /// - Throws: `Rejection.notFound(.user)` for an unknown user (ruling 19).
    public func badge(of user: UserID, in application: Application.ID) async throws -> Badge {
        try await database.read { transaction in
            guard
                let external = try transaction.externalUnreadCount(of: user, in: application)
            else { throw Rejection.notFound(.user) }
            let unread = try transaction.unreadCounts(of: user, in: application)
            return Badge(
                externalUnreadCount: external, unreadConversationCount: unread.conversations,
                unreadMessageCount: unread.messages)
        }
    }
}

extension MessagingStore {
    /// Sets the external count of a user's badge. Setting the same count is recorded too, because it is pushed.
    ///
    /// - Parameter count: Within `Badge.externalUnreadCounts`.
    /// - Throws: `Rejection.notFound(.user)` for an unknown user (ruling 19).
    public func setBadge(
        of user: UserID, externalUnreadCount count: Int64, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            try context.record(.badgeSet(BadgeSet(user: user, externalUnreadCount: count)))
        }
    }
}

extension Transaction {
    /// The external count; `nil` for an unknown user.
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

    /// The number of conversations in which a user has unread messages, and the number of these messages.
    ///
    /// They are summed on request over the rows with unread messages and those of wide conversations, which indexes
    /// select. Stored sums would cost one more write for each recipient of every message.
    func unreadCounts(
        of user: UserID, in application: Application.ID
    ) throws -> (conversations: Int64, messages: Int64) {
        let counts = try first(
            """
            SELECT COUNT(*), CAST(COALESCE(SUM(unread), 0) AS BIGINT) FROM (
                SELECT unread_count AS unread FROM participants
                WHERE application = \(application) AND user_id = \(user) AND state = 'shown'
                    AND unread_count > 0
                UNION ALL
                SELECT p.unread_count + c.message_count AS unread FROM participants p
                JOIN conversations c ON c.application = p.application AND c.id = p.conversation
                WHERE p.application = \(application) AND p.user_id = \(user)
                    AND p.state = 'shown' AND p.is_wide = 1
            ) counts
            WHERE unread > 0
            """
        ) { row in (conversations: try row.int64(0), messages: try row.int64(1)) }
        return counts ?? (0, 0)
    }
}
