public import Messaging
import SQL

extension MessagingStore {
    /// One message as the system sees it.
    ///
    /// - Parameter conversation: The one it must belong to; `nil` for any.
    /// - Throws: `Rejection.notFound` of the conversation or the message, `objectDeleted` when the
    ///   conversation named is deleted.
    public func message(
        _ id: Message.ID, in conversation: Conversation.ID?,
        in application: Application.ID
    ) async throws -> MessageSnapshot {
        try await database.read { transaction in
            let message = try transaction.liveMessage(id, in: conversation, in: application)
            guard
                let snapshot = try transaction.snapshots(of: [message], in: application).first
            else { throw Rejection.notFound(.message) }
            return snapshot
        }
    }

    /// A page of a conversation's messages as the system sees them, newest first.
    ///
    /// - Parameters:
    ///   - filter: Which of them, with their number as the total; see `Transaction.messages` for its
    ///     cost.
    ///   - after: The item before the page, a newer message; `nil` for the first page.
    ///   - limit: Most items, from one.
    /// - Throws: `Rejection.tooMany`; `notFound` of the conversation or of `after`, `objectDeleted`.
    public func messages(
        in conversation: Conversation.ID, matching filter: MessageFilter = MessageFilter(),
        after: Message.ID? = nil, limit: Int, in application: Application.ID
    ) async throws -> Page<MessageSnapshot> {
        try await database.read { transaction in
            let conversation = try transaction.conversation(conversation, in: application)
            let place = try after.map { after in
                try transaction.place(of: after, in: conversation.id, in: application)
            }
            guard filter.isEmpty else {
                let found = try transaction.messages(
                    in: conversation.id, matching: filter, before: place, limit: limit,
                    upTo: conversation.lastPosition, in: application
                ) { place, limit in
                    try transaction.messages(
                        in: conversation.id, before: place, limit: limit, in: application)
                }
                return Page(
                    items: try transaction.snapshots(of: found.stretch.items, in: application),
                    total: found.total, in: conversation.id, isCut: found.stretch.isCut)
            }
            let messages = try transaction.messages(
                in: conversation.id, before: place ?? conversation.lastPosition.next,
                limit: limit, in: application)
            return Page(
                items: try transaction.snapshots(of: messages.items, in: application),
                total: conversation.messageCount, in: conversation.id, isCut: messages.isCut)
        }
    }
}

extension Transaction {
    /// A message that exists, in a conversation that lives.
    func liveMessage(
        _ id: Message.ID, in named: Conversation.ID?, in application: Application.ID
    ) throws -> Message {
        let named = try named.map { named in try livingConversation(named, in: application) }
        guard let message = try message(id, in: application),
            named ?? message.conversation == message.conversation
        else { throw Rejection.notFound(.message) }
        guard try named != nil || isAlive(message.conversation, in: application) else {
            throw Rejection.notFound(.message)
        }
        return message
    }

    /// Whether a message's conversation has not been deleted.
    func isAlive(_ home: Conversation.ID, in application: Application.ID) throws -> Bool {
        try first(
            """
            SELECT 1 FROM conversations
            WHERE application = \(application) AND id = \(home) AND deleted_at IS NULL
            """
        ) { _ in true } ?? false
    }

    fileprivate func place(
        of message: Message.ID, in conversation: Conversation.ID, in application: Application.ID
    ) throws -> Position {
        let place = try first(
            """
            SELECT position FROM messages
            WHERE application = \(application) AND id = \(message)
                AND conversation = \(conversation)
            """
        ) { row in try row.position(0) }
        guard let place else { throw Rejection.notFound(.message) }
        return place
    }
}
