public import Messaging
import SQL

extension MessagingStore {
    /// A conversation as the system sees it, whoever takes part.
    ///
    /// - Parameter id: Its own id or an alias; the answer bears its own.
    /// - Throws: `Rejection.notFound`, or `objectDeleted` after its deletion for all.
    public func conversation(
        _ id: Conversation.ID, in application: Application.ID
    ) async throws -> ConversationSnapshot {
        try await database.read { transaction in
            try transaction.snapshot(
                of: try transaction.conversation(id, in: application), in: application)
        }
    }

    /// Makes sure that a conversation takes content: it exists and lives.
    ///
    /// - Returns: Its own id, should an alias have been given.
    /// - Throws: `Rejection.notFound`, or `objectDeleted` after its deletion for all.
    @discardableResult
    public func requireWritable(
        _ id: Conversation.ID, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await database.read { transaction in
            try transaction.livingConversation(id, in: application)
        }
    }

    /// The ids that lead to a conversation that exists and lives: its own first, then its aliases (X1.2).
    ///
    /// - Throws: `Rejection.notFound`, or `objectDeleted` after its deletion for all.
    public func names(
        of id: Conversation.ID, in application: Application.ID
    ) async throws -> [Conversation.ID] {
        try await database.read { transaction in
            let own = try transaction.livingConversation(id, in: application)
            return [own] + (try transaction.aliases(of: own, in: application)).sorted()
        }
    }
}
