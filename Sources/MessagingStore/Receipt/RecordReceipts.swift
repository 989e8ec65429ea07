public import Messaging
import SQL

extension MessagingStore {
    /// Records that a participant has received or read messages.
    ///
    /// What he knows already, his own messages, and those he cannot see change nothing (R72, R77).
    ///
    /// - Parameter positions: Which messages; what he does not see is left out.
    /// - Returns: The positions recorded; none unless there is a message of somebody else to know.
    /// - Throws: `Rejection.notFound(.conversation)` for a stranger, `objectDeleted`.
    @discardableResult
    public func recordReceipts(
        _ kind: Receipts.Kind, of positions: IntervalSet, by user: UserID,
        in conversation: Conversation.ID, in application: Application.ID
    ) async throws -> IntervalSet {
        try await change(in: application) { recording in
            let conversation = try recording.transaction.lockedConversation(
                conversation, in: application)
            return try recording.recordReceipts(kind, of: positions, by: user, in: conversation)
        }
    }

    /// Records that a user has received or read one message; repeats and his own messages change
    /// nothing (R72, R77).
    ///
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of a message that is deleted
    ///   or not visible to him.
    public func recordReceipt(
        _ kind: Receipts.Kind, of message: Message.ID, by user: UserID,
        in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            let transaction = recording.transaction
            try transaction.requireUser(user, in: application)
            let message = try transaction.visibleMessage(message, for: user, in: application)
            let conversation = try transaction.lockedConversation(
                message.conversation, in: application)
            guard message.sender.userID != user else { return }
            let place = message.position.number
            try recording.recordReceipts(
                kind, of: IntervalSet(place...place), by: user, in: conversation)
        }
    }

    /// Records that a user has read everything he sees up to a place, at once (R75).
    ///
    /// - Parameter place: Cut to the last message before it that he sees (rulings 16); `nil` for all.
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of a conversation that
    ///   does not stand in his view.
    public func markAllRead(
        upTo place: Position?, by user: UserID, in conversation: Conversation.ID,
        in application: Application.ID
    ) async throws -> AllRead {
        try await change(in: application) { recording in
            let transaction = recording.transaction
            try transaction.requireUser(user, in: application)
            let (conversation, part) = try transaction.lockedConversation(
                conversation, for: user, in: application)
            try part.requireReading()
            guard
                let last = try transaction.lastVisiblePosition(
                    upTo: place, for: user, in: conversation.id, in: application)
            else { return AllRead(conversation: conversation.id, place: nil) }
            try recording.recordReceipts(
                .read, of: IntervalSet(1...last.number), by: user, in: conversation)
            return AllRead(conversation: conversation.id, place: last)
        }
    }
}

extension Recording {
    @discardableResult
    fileprivate func recordReceipts(
        _ kind: Receipts.Kind, of positions: IntervalSet, by user: UserID,
        in conversation: Conversation
    ) throws -> IntervalSet {
        let fresh = try unseen(kind, positions, by: user, in: conversation)
        if !fresh.isEmpty {
            try record(
                .receiptsRecorded(
                    ReceiptsRecorded(
                        conversation: conversation.id, user: user, kind: kind, positions: fresh,
                        at: now)))
        }
        return fresh
    }

    /// What a receipt is new for, as few intervals: his own messages and deleted ones stay among
    /// them, as they mean nothing there. None when there is nothing else.
    private func unseen(
        _ kind: Receipts.Kind, _ positions: IntervalSet, by user: UserID,
        in conversation: Conversation
    ) throws -> IntervalSet {
        guard
            let part = try transaction.participant(user, in: conversation.id, in: application)
        else { throw Rejection.notFound(.conversation) }
        let owner = ReceiptOwner(conversation: conversation.id, user: user)
        let known = try transaction.receipts(of: owner, in: application)
        let stay = part.stay(upTo: conversation.lastPosition)
        var asked = positions.intersection(part.range(upTo: conversation.lastPosition))
            .intersection(stay.union(part.past))
            .subtracting(kind == .read ? known.read : known.delivered)
        asked = asked.subtracting(
            try transaction.hiddenPositions(of: owner, within: asked, in: application))
        // With nothing unread only what he was sent in an earlier stay can be new to read.
        var open = asked
        if kind == .read, try transaction.unreadCount(of: owner, in: application) == 0 {
            open = asked.subtracting(stay)
        }
        guard try transaction.isAny(byOthersThan: owner, in: open, in: application) else {
            return IntervalSet()
        }
        return asked
    }
}
