public import Messaging
import SQL

extension MessagingStore {
    /// A user's badge: the external count as set, the others counted over his views now.
    ///
    /// - Throws: `Rejection.notFound(.user)` for one nobody has named (rulings 19).
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
    /// Sets the external part of a user's badge; the same again is recorded too, as it is pushed.
    ///
    /// - Parameter count: One of `Badge.externalUnreadCounts`.
    /// - Throws: `Rejection.notFound(.user)` for one nobody has named (rulings 19).
    public func setBadge(
        of user: UserID, externalUnreadCount count: Int64, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            try context.record(.badgeSet(user, externalUnreadCount: count))
        }
    }
}

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
