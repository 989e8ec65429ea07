public import Messaging
import SQL

extension MessagingStore {
    /// A conversation as a user sees it, also one he has left.
    ///
    /// - Parameter id: Its own id or an alias; the answer bears its own.
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of a conversation he never
    ///   took part in, does not see yet, has deleted for himself or left, or that is deleted for
    ///   all.
    public func conversation(
        _ id: Conversation.ID, seenBy user: UserID, in application: Application.ID
    ) async throws -> ConversationView {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            let id = try transaction.shownConversation(id, for: user, in: application).id
            return try transaction.snapshot(of: id, seenBy: user, in: application)
        }
    }
}
