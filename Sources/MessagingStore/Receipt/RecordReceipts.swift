public import Messaging
import SQL

extension MessagingStore {
    /// Records that a participant has received or read messages.
    ///
    /// What he knows already, his own messages, and those he cannot see change nothing (R72, R77).
    ///
    /// - Parameter positions: Which messages; places without one are left out.
    /// - Returns: The positions it was new for.
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
            let place = message.position.number
            try recording.recordReceipts(
                kind, of: IntervalSet(place...place), by: user, in: conversation)
        }
    }

    /// Records that a user has read everything he sees up to a place, at once (R75).
    ///
    /// - Parameter place: Cut to the last message before it that he sees (rulings 16); `nil` for all.
    /// - Returns: The place of that message; `nil` when there is none.
    /// - Throws: `Rejection.notFound` of the user nobody has named, or of a conversation he never
    ///   took part in or that is deleted for all.
    public func markAllRead(
        upTo place: Position?, by user: UserID, in conversation: Conversation.ID,
        in application: Application.ID
    ) async throws -> Position? {
        try await change(in: application) { recording in
            let transaction = recording.transaction
            try transaction.requireUser(user, in: application)
            let conversation = try transaction.visibleConversation(
                conversation, for: user, in: application)
            guard
                let last = try transaction.lastVisiblePosition(
                    upTo: place, for: user, in: conversation.id, in: application)
            else { return nil }
            try recording.recordReceipts(
                .read, of: IntervalSet(1...last.number), by: user, in: conversation)
            return last
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

    fileprivate func unseen(
        _ kind: Receipts.Kind, _ positions: IntervalSet, by user: UserID,
        in conversation: Conversation
    ) throws -> IntervalSet {
        guard
            let participant = try transaction.participant(
                user, in: conversation.id, in: application)
        else { throw Rejection.notFound(.conversation) }
        let last = (participant.leftAfter ?? conversation.lastPosition).number
        guard last > 0 else { return IntervalSet() }
        let known = try transaction.receipts(
            of: ReceiptOwner(conversation: conversation.id, user: user), in: application)
        let asked = positions.intersection(IntervalSet(1...last))
            .subtracting(kind == .read ? known.read : known.delivered)
        guard let low = asked.intervals.first, let high = asked.intervals.last else { return asked }
        let others = try transaction.rows(
            """
            SELECT position FROM messages
            WHERE application = \(application) AND conversation = \(conversation.id)
                AND position BETWEEN \(low.lowerBound) AND \(high.upperBound)
                AND (sender_user IS NULL OR sender_user <> \(user))
            """
        ) { row in try row.int64(0) }
        return asked.intersection(IntervalSet(others.map { place in place...place }))
    }
}
