public import Messaging
import SQL

extension MessagingStore {
    /// One message as a user sees it.
    ///
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of a message that is deleted
    ///   or not visible to him.
    public func message(
        _ id: Message.ID, seenBy user: UserID, in application: Application.ID
    ) async throws -> MessageSnapshot {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            let message = try transaction.visibleMessage(id, for: user, in: application)
            guard
                let snapshot = try transaction.snapshots(
                    of: [message], seenBy: user, in: application
                ).first
            else { throw Rejection.notFound(.message) }
            return snapshot
        }
    }

    /// A page of a conversation's messages as a user sees them, newest first.
    ///
    /// - Parameters:
    ///   - filter: Which of them, with their number as the total; see `Transaction.messages` for its
    ///     cost.
    ///   - after: The item before the page, a newer message; `nil` for the first page.
    ///   - limit: Most items, from one.
    /// - Throws: `Rejection.tooMany`; `notFound` of the user nobody has named, of a conversation he never took
    ///   part in or that is deleted for all, or of an `after` he does not see there.
    public func messages(
        in conversation: Conversation.ID, seenBy user: UserID,
        matching filter: MessageFilter = MessageFilter(), after: Message.ID? = nil, limit: Int,
        in application: Application.ID
    ) async throws -> Page<MessageSnapshot> {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            let (id, part) = try transaction.shownConversation(
                conversation, for: user, in: application)
            let place = try after.map { after in
                let message = try transaction.visibleMessage(after, for: user, in: application)
                guard message.conversation == id else { throw Rejection.notFound(.message) }
                return message.position
            }
            guard filter.isEmpty else {
                let whole = try transaction.conversation(id, in: application)
                let found = try transaction.messages(
                    in: id, matching: filter, before: place, limit: limit,
                    upTo: part.leftAfter ?? whole.lastPosition, in: application
                ) { place, limit in
                    try transaction.messages(
                        in: id, seenBy: part, before: place, limit: limit, in: application)
                }
                return Page(
                    items: try transaction.snapshots(
                        of: found.stretch.items, seenBy: user, in: application),
                    total: found.total, in: id, isCut: found.stretch.isCut)
            }
            let messages = try transaction.messages(
                in: id, seenBy: part, before: place, limit: limit, in: application)
            return Page(
                items: try transaction.snapshots(of: messages.items, seenBy: user, in: application),
                total: try transaction.messageCount(of: user, in: id, in: application), in: id,
                isCut: messages.isCut)
        }
    }
}
