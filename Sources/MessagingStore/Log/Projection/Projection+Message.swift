import Messaging
import SQL

extension Projection {
    func send(_ sent: MessageSent) throws {
        let message = sent.message
        try insert(message)
        for part in message.parts { try insert(part, of: message) }
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

    /// Also binds a content that belongs to no conversation yet (rulings 18).
    private func insert(_ part: MessagePart, of message: Message) throws {
        let (body, content): ([UInt8]?, Content.ID?) =
            switch part.body {
            case .inline(let bytes): (bytes, nil)
            case .content(let content, _): (nil, content)
            }
        try transaction.execute(
            """
            INSERT INTO parts (
                application, message, part_index, id, mime_type, body, content, size, updated_at
            ) VALUES (
                \(application), \(message.id), \(part.index), \(part.id), \(part.mimeType),
                \(body), \(content), \(part.size), \(part.updatedAt)
            )
            """)
        guard let content else { return }
        try transaction.execute(
            """
            UPDATE contents SET conversation = \(message.conversation)
            WHERE application = \(application) AND id = \(content) AND conversation IS NULL
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
