import Messaging
import SQL

extension Projection {
    func send(_ sent: MessageSent) throws {
        let message = sent.message
        try insert(message)
        for part in message.parts { try insert(part, of: message.id, in: message.conversation) }
        let (present, others) =
            try transaction.first(
                """
                UPDATE conversations SET
                    last_position = \(message.position), last_sent_at = \(message.sentAt),
                    message_count = message_count + 1, is_announced = 1
                WHERE application = \(application) AND id = \(message.conversation)
                RETURNING (
                    SELECT COUNT(*) FROM participants p
                    WHERE p.application = conversations.application
                        AND p.conversation = conversations.id AND p.left_after IS NULL
                ), (
                    SELECT COUNT(*) FROM participants p
                    WHERE p.application = conversations.application
                        AND p.conversation = conversations.id AND p.left_after IS NULL
                        AND p.state = 'unseen'
                )
                """
            ) { row in (try row.int(0), try row.int(1)) } ?? (0, 0)
        // Counted along, so that only a sending that may show itself to somebody asks who they are.
        let unaware = try others > 0 ? unaware(of: message.conversation) : []
        let reached = try reach(message)
        if reached.count < present { try hideFromBlockers(message) }
        try connect(seeing: reached.filter(unaware.contains), of: message.conversation)
        try remember(sent.key, as: .message, for: message.id.bytes)
    }

    /// Puts a message into the views of all participants but those one side of whom blocks the
    /// other now (R32, rulings 11); whoever does not see the conversation does from now on (R16, R51).
    ///
    /// - Returns: Whom it reached.
    private func reach(_ message: Message) throws -> [UserID] {
        let sender = message.sender.userID
        let reached = try transaction.rows(
            """
            UPDATE participants SET
                total_count = total_count + 1,
                unread_count = unread_count + CASE WHEN user_id = \(sender) THEN 0 ELSE 1 END,
                last_position = \(message.position), last_message = \(message.id),
                last_at = \(message.sentAt),
                shown_from = CASE
                    WHEN state = 'shown' THEN shown_from ELSE \(message.position)
                END,
                state = 'shown'
            WHERE application = \(application) AND conversation = \(message.conversation)
                AND left_after IS NULL
                AND NOT EXISTS (
                    SELECT 1 FROM blocks b
                    WHERE b.application = participants.application
                        AND b.owner = participants.user_id AND b.blocked = \(sender)
                        AND b.owner <> b.blocked
                )
                AND NOT EXISTS (
                    SELECT 1 FROM blocks b
                    WHERE b.application = participants.application
                        AND b.owner = \(sender) AND b.blocked = participants.user_id
                        AND b.owner <> b.blocked
                )
            RETURNING user_id, shown_from
            """
        ) { row in (user: try row.user(0), shownFrom: try row.optionalPosition(1)) }
        try count(
            shown: reached.filter { view in view.shownFrom == message.position }.map(\.user), 1)
        return reached.map(\.user)
    }

    /// Remembers from whose views a message is hidden for ever: those it has not reached.
    private func hideFromBlockers(_ message: Message) throws {
        try transaction.execute(
            """
            INSERT INTO hidden_messages (application, conversation, position, user_id)
            SELECT application, conversation, \(message.position), user_id FROM participants
            WHERE application = \(application) AND conversation = \(message.conversation)
                AND left_after IS NULL AND COALESCE(last_position, 0) <> \(message.position)
            """)
        try transaction.execute(
            """
            UPDATE participants SET unshown_count = unshown_count + 1
            WHERE application = \(application) AND conversation = \(message.conversation)
                AND left_after IS NULL AND COALESCE(last_position, 0) <> \(message.position)
            """)
    }

    private func insert(_ message: Message) throws {
        let (user, name) = message.sender.columns
        try transaction.execute(
            """
            INSERT INTO messages (
                application, id, conversation, position, sender_user, sender_name, sent_at,
                updated_at, version
            ) VALUES (
                \(application), \(message.id), \(message.conversation), \(message.position),
                \(user), \(name), \(message.sentAt), \(message.updatedAt), \(message.version)
            )
            """)
    }
}

extension Sender {
    /// What stands in `sender_user` and `sender_name`: one of them.
    var columns: (user: UserID?, name: String?) {
        switch self {
        case .user(let user): (user, nil)
        case .named(let name): (nil, name)
        }
    }
}
