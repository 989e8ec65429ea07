public import Messaging
import SQL

extension Transaction {
    /// A live message that the system or a user may read.
    ///
    /// - Parameter conversation: The conversation that the message must belong to, by its own id or an alias; `nil` for
    ///   any. It is ignored for a user.
    func message(
        _ id: Message.ID, in conversation: Conversation.ID?, by perspective: Perspective,
        in application: Application.ID
    ) throws -> Message {
        switch perspective {
        case .system:
            return try liveMessage(id, in: conversation, in: application)
        case .user(let user):
            try requireUser(user, in: application)
            return try visibleMessage(id, for: user, in: application)
        }
    }

    /// A message whose parts will be changed. Its conversation is locked until the transaction ends. A user may change a
    /// message only as its sender and as a current participant (client-api §4.3, R14).
    ///
    /// - Throws: `Rejection`: `notFound`, `objectDeleted`; `userErased` for a tombstone; `accessDenied`, `notSender` for a
    ///   user.
    func messageToChange(
        _ id: Message.ID, in conversation: Conversation.ID?, by perspective: Perspective,
        in application: Application.ID
    ) throws -> Message {
        switch perspective {
        case .system:
            let named =
                try conversation ?? liveMessage(id, in: nil, in: application).conversation
            let locked = try lockedConversationRow(named, in: application)
            let message = try liveMessage(id, in: locked.id, in: application)
            // A tombstone stays without parts (X16).
            if let sender = message.sender.userID, sender.isErased {
                throw Rejection.userErased(sender)
            }
            return message
        case .user(let user):
            let message = try message(id, in: nil, by: perspective, in: application)
            let locked = try lockedConversationRow(message.conversation, in: application)
            guard let participant = try participant(user, in: locked.id, in: application),
                !participant.isFormer
            else { throw Rejection.accessDenied }
            guard message.sender.userID == user else { throw Rejection.notSender }
            return message
        }
    }
}

extension MessagingStore {
    /// A message as the system or a user sees it.
    ///
    /// - Parameter conversation: The conversation it must belong to; `nil` for any. It is ignored for a user.
    /// - Throws: `Rejection.notFound` of the conversation, of the user, or of a message that is deleted or not visible to
    ///   the user; `objectDeleted` when the given conversation is deleted.
    public func message(
        _ id: Message.ID, in conversation: Conversation.ID?,
        seenBy perspective: Perspective = .system, in application: Application.ID
    ) async throws -> MessageSnapshot {
        try await database.read { transaction in
            let message = try transaction.message(
                id, in: conversation, by: perspective, in: application)
            guard
                let snapshot = try transaction.snapshots(
                    of: [message], seenBy: perspective, in: application
                ).first
            else { throw Rejection.notFound(.message) }
            return snapshot
        }
    }

    /// A page of a conversation's messages as the system or a user sees them, newest first.
    ///
    /// - Parameters:
    ///   - filter: Selects messages, whose number is the total; see `Transaction.messages` for the cost.
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items, at least 1.
    ///   - isCounted: Whether the page has the total.
    /// - Throws: `Rejection.tooMany`; `notFound` of the user, of a conversation that does not exist, that the user never
    ///   took part in or that is deleted for all participants, or of an `after` that is not in the list;
    ///   `objectDeleted` for the system.
    public func messages(
        in conversation: Conversation.ID, seenBy perspective: Perspective = .system,
        matching filter: MessageFilter = MessageFilter(), after: Message.ID? = nil, limit: Int,
        isCounted: Bool = true, in application: Application.ID
    ) async throws -> ListPage<MessageSnapshot> {
        try await database.read { transaction in
            let (view, total) = try transaction.view(
                of: conversation, seenBy: perspective, in: application)
            let position = try after.map { after in try transaction.position(of: after, in: view) }
            let found =
                if filter.isEmpty {
                    FilteredPage(
                        page: try transaction.messages(of: view, before: position, limit: limit),
                        total: isCounted ? try total.first() ?? 0 : nil)
                } else {
                    try transaction.messages(
                        in: view.conversation, matching: filter, before: position, limit: limit,
                        isCounted: isCounted,
                        upTo: try view.participant?.leftAfter
                            ?? transaction.lockedConversationRow(
                                view.conversation, in: application
                            ).lastPosition, in: application
                    ) { position, limit in
                        try transaction.messages(of: view, before: position, limit: limit)
                    }
                }
            return ListPage(
                items: try transaction.snapshots(
                    of: found.page.items, seenBy: perspective, in: application),
                total: found.total, in: view.conversation, isCut: found.page.isCut,
                searchedTo: found.searchedTo?.id.uuid)
        }
    }
}

extension Transaction {
    /// A message of a live conversation.
    ///
    /// - Parameter named: The conversation that the message must belong to, by its own id or an alias; `nil` for any.
    func liveMessage(
        _ id: Message.ID, in named: Conversation.ID?, in application: Application.ID
    ) throws -> Message {
        let named = try named.map { named in try liveConversationID(named, in: application) }
        guard let message = try message(id, in: application),
            named ?? message.conversation == message.conversation
        else { throw Rejection.notFound(.message) }
        guard try named != nil || isLive(message.conversation, in: application) else {
            throw Rejection.notFound(.message)
        }
        return message
    }

    /// Whether a conversation exists and is not deleted.
    func isLive(_ conversation: Conversation.ID, in application: Application.ID) throws -> Bool {
        try isDeleted(conversation, in: application) == false
    }

    /// A conversation without its participants, and its messages as the system sees them.
    func view(
        of conversation: Conversation.ID, in application: Application.ID
    ) throws -> (Conversation, MessageView) {
        let conversation = try lockedConversationRow(conversation, in: application)
        return (
            conversation,
            MessageView(
                conversation: conversation.id, participant: nil, application: application)
        )
    }

    /// The messages of a conversation as a current or former participant sees them.
    func view(
        of conversation: Conversation.ID, seenBy user: UserID, in application: Application.ID
    ) throws -> (Participant, MessageView) {
        try requireUser(user, in: application)
        let (id, participant) = try shownConversation(conversation, for: user, in: application)
        return (
            participant,
            MessageView(conversation: id, participant: participant, application: application)
        )
    }

    /// The position of a message of a view.
    ///
    /// - Throws: `Rejection.notFound(.message)` for a message that is not in the view.
    func position(of message: Message.ID, in view: MessageView) throws -> Position {
        if let user = view.participant?.userID {
            let message = try visibleMessage(message, for: user, in: view.application)
            guard message.conversation == view.conversation else {
                throw Rejection.notFound(.message)
            }
            return message.position
        }
        let position = try first(
            """
            SELECT position FROM messages
            WHERE application = \(view.application) AND id = \(message)
                AND conversation = \(view.conversation)
            """
        ) { row in try row.position(0) }
        guard let position else { throw Rejection.notFound(.message) }
        return position
    }
}
