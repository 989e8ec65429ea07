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

    /// A complete content for a user who uploaded it, or sees a message that attaches it (R86).
    ///
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of the content, also while it
    ///   is not complete, and of one he may not read.
    public func content(
        _ id: Content.ID, seenBy user: UserID, in application: Application.ID
    ) async throws -> Content {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            guard let content = try transaction.content(id, in: application),
                try transaction.mayRead(id, user, in: application)
            else { throw Rejection.notFound(.content) }
            return content
        }
    }

    /// Makes sure that content may be created on behalf of a user.
    ///
    /// - Throws: `Rejection.notFound` of the user nobody has named.
    public func requireUser(_ user: UserID, in application: Application.ID) async throws {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
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

extension Transaction {
    /// Whether a user uploaded a content, or sees a message that attaches it (R86).
    func mayRead(
        _ id: Content.ID, _ user: UserID, in application: Application.ID
    ) throws -> Bool {
        let uploader = try first(
            "SELECT uploader FROM contents WHERE application = \(application) AND id = \(id)"
        ) { row in try row.optionalUser(0) }
        if uploader == user { return true }
        let messages = try rows(
            """
            SELECT DISTINCT message FROM parts
            WHERE application = \(application) AND content = \(id)
            """
        ) { row in try row.id(0) as Message.ID }
        return try messages.contains { message in
            try sees(message, user, in: application)
        }
    }

    private func sees(
        _ message: Message.ID, _ user: UserID, in application: Application.ID
    ) throws -> Bool {
        do {
            _ = try visibleMessage(message, for: user, in: application)
            return true
        } catch is Rejection {
            return false
        }
    }
}
