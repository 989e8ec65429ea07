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
