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
            SELECT m.position FROM messages m
            JOIN participants p ON p.application = m.application
                AND p.conversation = m.conversation AND p.user_id = \(user)
            WHERE m.application = \(application) AND m.conversation = \(conversation)
                AND m.position <= COALESCE(p.left_after, m.position)
                AND m.position <= \(place ?? .last)
            ORDER BY m.position DESC LIMIT 1
            """
        ) { row in try row.position(0) }
    }
}
