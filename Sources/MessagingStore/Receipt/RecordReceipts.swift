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
            let fresh = try recording.unseen(kind, positions, by: user, in: conversation)
            if !fresh.isEmpty {
                try recording.record(
                    .receiptsRecorded(
                        ReceiptsRecorded(
                            conversation: conversation.id, user: user, kind: kind,
                            positions: fresh, at: recording.now)))
            }
            return fresh
        }
    }
}

extension Recording {
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
