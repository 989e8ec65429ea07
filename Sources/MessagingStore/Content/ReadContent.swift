public import Messaging
import SQL

extension MessagingStore {
    /// A complete content.
    ///
    /// - Parameter conversation: The one it must belong to; `nil` for any of the application.
    /// - Throws: `Rejection.notFound` of the conversation, or of the content, also while it is not
    ///   complete; `objectDeleted` when the conversation named is deleted.
    public func content(
        _ id: Content.ID, in conversation: Conversation.ID?,
        in application: Application.ID
    ) async throws -> Content {
        try await database.read { transaction in
            let named = try conversation.map { named in
                try transaction.livingConversation(named, in: application)
            }
            guard let content = try transaction.content(id, in: application),
                named == nil || content.conversation == named
            else { throw Rejection.notFound(.content) }
            return content
        }
    }

    /// A complete content of whatever application, for whoever bears a signed URL of it.
    ///
    /// - Returns: `nil` when there is none.
    public func signedContent(_ id: Content.ID) async throws -> Content? {
        try await database.read { transaction in
            let owner = try transaction.owner(of: id)
            return try owner.flatMap { owner in try transaction.content(id, in: owner) }
        }
    }
}
