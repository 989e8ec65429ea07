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
        if let user = message.sender.userID {
            try transaction.execute(
                """
                UPDATE participants SET sent_count = sent_count + 1
                WHERE application = \(application) AND conversation = \(message.conversation)
                    AND user_id = \(user) AND left_after IS NULL
                """)
        }
        try remember(sent.key, as: .message, for: message.id.bytes)
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
