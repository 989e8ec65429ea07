import Messaging
import SQL

extension Transaction {
    /// A page of a user's list, straight from its index.
    func views(
        of user: UserID, sortedBy order: ConversationOrder, after place: ViewPlace, limit: Int,
        in application: Application.ID
    ) throws -> [ViewRow] {
        switch order {
        case .createdAt:
            try rows(
                """
                SELECT \(raw: ViewRow.columns)
                WHERE p.application = \(application) AND p.user_id = \(user)
                    AND (p.conversation_created_at, p.conversation) < (\(place.time), \(place.id))
                ORDER BY p.conversation_created_at DESC, p.conversation DESC LIMIT \(limit)
                """
            ) { row in try ViewRow(row) }
        // Every message changes this order, so keeping an index of it would cost each sending one
        // write for each participant; sorting one user's list when he asks is cheaper.
        case .lastMessage:
            try rows(
                """
                SELECT id, created_at, is_distinct, version, metadata, frozen_metadata, total,
                    left_after, not_unread, last_message, last_position
                FROM (
                    SELECT c.id AS id, c.created_at AS created_at, c.is_distinct AS is_distinct,
                        c.version AS version, c.metadata AS metadata,
                        p.frozen_metadata AS frozen_metadata,
                        COALESCE(p.messages_until, c.message_count) AS total,
                        p.left_after AS left_after,
                        p.messages_before + p.sent_count + p.read_count AS not_unread,
                        (
                            SELECT m.id FROM messages m
                            WHERE m.application = p.application
                                AND m.conversation = p.conversation
                                AND m.position <= COALESCE(p.left_after, c.last_position)
                            ORDER BY m.position DESC LIMIT 1
                        ) AS last_message,
                        COALESCE(p.left_after, c.last_position) AS last_position,
                        COALESCE((
                            SELECT m.sent_at FROM messages m
                            WHERE m.application = p.application
                                AND m.conversation = p.conversation
                                AND m.position <= COALESCE(p.left_after, c.last_position)
                            ORDER BY m.position DESC LIMIT 1
                        ), c.created_at) AS time
                    FROM participants p
                    JOIN conversations c ON c.application = p.application AND c.id = p.conversation
                    WHERE p.application = \(application) AND p.user_id = \(user)
                ) AS list
                WHERE (time, id) < (\(place.time), \(place.id))
                ORDER BY time DESC, id DESC LIMIT \(limit)
                """
            ) { row in try ViewRow(row) }
        }
    }

    /// One conversation as a user sees it; `nil` for a stranger, and when it is deleted.
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
            SELECT p.conversation_created_at, (
                SELECT m.sent_at FROM messages m
                WHERE m.application = p.application AND m.conversation = p.conversation
                    AND m.position <= COALESCE(p.left_after, c.last_position)
                ORDER BY m.position DESC LIMIT 1
            )
            FROM participants p
            JOIN conversations c ON c.application = p.application AND c.id = p.conversation
            WHERE p.application = \(application) AND p.conversation = \(conversation)
                AND p.user_id = \(user)
            """
        ) { row in
            let createdAt = try row.timestamp(0)
            let time =
                switch order {
                case .createdAt: createdAt
                case .lastMessage: try row.optionalTimestamp(1) ?? createdAt
                }
            return ViewPlace(time: time, id: conversation.bytes)
        }
    }
}
