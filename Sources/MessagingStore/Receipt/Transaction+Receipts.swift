import Messaging
import SQL

/// Whose receipts, and where.
struct ReceiptOwner: Hashable {
    let conversation: Conversation.ID
    let user: UserID
}

extension Transaction {
    /// All receipts of some conversations.
    func receipts(
        in conversations: [Conversation.ID], in application: Application.ID
    ) throws -> [ReceiptOwner: Receipts] {
        let found = try rows(
            """
            SELECT conversation, user_id, delivered, read FROM receipts
            WHERE application = \(application)
                AND conversation IN (\(few: conversations.map(\.bytes)))
            """
        ) { row in
            (
                ReceiptOwner(conversation: try row.id(0), user: try row.user(1)),
                Receipts(delivered: try row.intervals(2), read: try row.intervals(3))
            )
        }
        return Dictionary(found) { first, _ in first }
    }

    /// The receipts of one participant.
    func receipts(of owner: ReceiptOwner, in application: Application.ID) throws -> Receipts {
        try first(
            """
            SELECT delivered, read FROM receipts
            WHERE application = \(application) AND conversation = \(owner.conversation)
                AND user_id = \(owner.user)
            """
        ) { row in
            Receipts(delivered: try row.intervals(0), read: try row.intervals(1))
        } ?? Receipts()
    }

    /// The place of the last message at or before a place that a participant sees.
    func lastVisiblePosition(
        upTo place: Position?, for user: UserID, in conversation: Conversation.ID,
        in application: Application.ID
    ) throws -> Position? {
        try first(
            """
            SELECT m.position FROM participants p
            JOIN messages m ON m.application = p.application AND m.conversation = p.conversation
            WHERE p.application = \(application) AND p.conversation = \(conversation)
                AND p.user_id = \(user)
                AND m.position > p.cleared_to AND m.position <= p.last_position
                AND m.position <= \(place ?? .last)
                AND NOT EXISTS (
                    SELECT 1 FROM hidden_messages h
                    WHERE h.application = m.application AND h.conversation = m.conversation
                        AND h.position = m.position AND h.user_id = p.user_id
                )
            ORDER BY m.position DESC LIMIT 1
            """
        ) { row in try row.position(0) }
    }

    /// How many messages at some positions others have sent.
    func count(
        othersThan owner: ReceiptOwner, in positions: IntervalSet, in application: Application.ID
    ) throws -> Int64 {
        try positions.intervals.reduce(0) { count, interval in
            let more = try first(
                """
                SELECT COUNT(*) FROM messages
                WHERE application = \(application) AND conversation = \(owner.conversation)
                    AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                    AND (sender_user IS NULL OR sender_user <> \(owner.user))
                """
            ) { row in try row.int64(0) }
            return count + (more ?? 0)
        }
    }

    /// Whether somebody else has sent a message at one of some positions.
    func isAny(
        byOthersThan owner: ReceiptOwner, in positions: IntervalSet,
        in application: Application.ID
    ) throws -> Bool {
        for interval in positions.intervals {
            let found = try first(
                """
                SELECT 1 FROM messages
                WHERE application = \(application) AND conversation = \(owner.conversation)
                    AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                    AND (sender_user IS NULL OR sender_user <> \(owner.user))
                LIMIT 1
                """
            ) { _ in true }
            if found != nil { return true }
        }
        return false
    }

    /// How many messages a participant has still to read.
    func unreadCount(of owner: ReceiptOwner, in application: Application.ID) throws -> Int64 {
        try first(
            """
            SELECT unread_count FROM participants
            WHERE application = \(application) AND conversation = \(owner.conversation)
                AND user_id = \(owner.user)
            """
        ) { row in try row.int64(0) } ?? 0
    }
}
