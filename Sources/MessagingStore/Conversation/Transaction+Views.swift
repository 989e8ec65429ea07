import Messaging
import SQL

extension Transaction {
    /// A page of a user's list, straight from its index, as much as one answer holds.
    func views(
        of user: UserID, sortedBy order: ConversationOrder, after place: ViewPlace, limit: Int,
        in application: Application.ID
    ) throws -> Stretch<ViewRow> {
        let page: SQL =
            switch order {
            case .createdAt:
                """
                SELECT \(raw: ViewRow.columns)
                WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                    AND (p.conversation_created_at, p.conversation) < (\(place.time), \(place.id))
                ORDER BY p.conversation_created_at DESC, p.conversation DESC LIMIT \(limit)
                """
            case .lastMessage:
                """
                SELECT \(raw: ViewRow.columns)
                WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                    AND (p.last_at, p.conversation) < (\(place.time), \(place.id))
                ORDER BY p.last_at DESC, p.conversation DESC LIMIT \(limit)
                """
            }
        return try stretch(page, weight: { row in try ViewRow.weight(row) }) { row in
            try ViewRow(row)
        }
    }

    /// One conversation as a user sees it, also while it does not stand in his view; `nil` for a
    /// stranger, and when it is deleted.
    func view(
        of conversation: Conversation.ID, for user: UserID, in application: Application.ID
    ) throws -> ViewRow? {
        try first(
            """
            SELECT \(raw: ViewRow.columns)
            WHERE p.application = \(application) AND p.conversation = \(conversation)
                AND p.user_id = \(user)
            """
        ) { row in try ViewRow(row) }
    }

    /// Where a conversation stands in a user's list; `nil` when it is not there.
    func place(
        of conversation: Conversation.ID, for user: UserID, sortedBy order: ConversationOrder,
        in application: Application.ID
    ) throws -> ViewPlace? {
        try first(
            """
            SELECT conversation_created_at, last_at FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(user) AND state = 'shown'
            """
        ) { row in
            ViewPlace(
                time: try row.timestamp(order == .createdAt ? 0 : 1), id: conversation.bytes)
        }
    }
}
