import Messaging
import SQL

extension Projection {
    func send(_ sent: MessageSent) throws {
        let message = sent.message
        try insert(message)
        for part in message.parts { try insert(part, of: message.id, in: message.conversation) }
        try transaction.execute(
            """
            UPDATE conversations SET
                last_position = \(message.position), last_sent_at = \(message.sentAt),
                message_count = message_count + 1, is_announced = 1
            WHERE application = \(application) AND id = \(message.conversation)
            """)
        try reach(message)
        try remember(sent.key, as: .message, for: message.id.bytes)
    }

    /// Puts a message into the views of all participants but those one side of whom blocks the
    /// other now (R32, rulings 11); whoever does not see the conversation does from now on (R16, R51).
    ///
    /// One statement changes all views; only what is seldom takes more. None tells what it changed
    /// (`RETURNING`): that costs a table of its own each time, and the look before knows it.
    private func reach(_ message: Message) throws {
        let present = try present(for: message)
        let hidden = present.filter(\.isBlocked).map(\.user)
        let new = present.filter { view in view.state != .shown && !view.isBlocked }
        if !new.isEmpty { try show(message, to: new.map(\.user)) }
        let bystanders = hidden.isEmpty ? [""] : hidden.map(\.text)
        try transaction.execute(
            """
            UPDATE participants SET
                total_count = total_count + 1,
                unread_count = unread_count + CASE WHEN user_id = \(message.sender.userID) THEN 0 ELSE 1 END,
                last_position = \(message.position), last_message = \(message.id),
                last_at = \(message.sentAt)
            WHERE application = \(application) AND conversation = \(message.conversation)
                AND left_after IS NULL AND user_id NOT IN (\(few: bystanders))
            """)
        if !hidden.isEmpty { try hideFromBlockers(message) }
        let unaware = new.filter { view in view.state == .unseen }.map(\.user)
        try connect(seeing: unaware, of: message.conversation)
    }

    /// A participant before a message reaches him.
    private struct View {
        let user: UserID
        let state: ViewState
        /// Whether he blocks its sender or is blocked by him.
        let isBlocked: Bool
    }

    private func present(for message: Message) throws -> [View] {
        let sender = message.sender.userID
        return try transaction.rows(
            """
            SELECT user_id, state, EXISTS (
                SELECT 1 FROM blocks b
                WHERE b.application = p.application AND b.owner = p.user_id
                    AND b.blocked = \(sender) AND b.owner <> b.blocked
            ), EXISTS (
                SELECT 1 FROM blocks b
                WHERE b.application = p.application AND b.owner = \(sender)
                    AND b.blocked = p.user_id AND b.owner <> b.blocked
            )
            FROM participants p
            WHERE application = \(application) AND conversation = \(message.conversation)
                AND left_after IS NULL
            ORDER BY user_id
            """
        ) { row in
            View(
                user: try row.user(0), state: try row.viewState(1),
                isBlocked: try row.int64(2) + row.int64(3) > 0)
        }
    }

    /// Brings a conversation into the views of users by a message.
    private func show(_ message: Message, to users: [UserID]) throws {
        try transaction.execute(
            """
            UPDATE participants SET state = 'shown', shown_from = \(message.position)
            WHERE application = \(application) AND conversation = \(message.conversation)
                AND user_id IN (\(few: users.map(\.text)))
            """)
        try count(shown: users, 1)
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
                updated_at, version, weight
            ) VALUES (
                \(application), \(message.id), \(message.conversation), \(message.position),
                \(user), \(name), \(message.sentAt), \(message.updatedAt), \(message.version),
                \(message.weight)
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
