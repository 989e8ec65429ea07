import Messaging
import SQL

extension Projection {
    /// Keeps a message until it is due, its turn behind all that wait, and promises it its id and its
    /// contents (rulings 18).
    func keep(_ scheduled: MessageScheduled) throws {
        let message = scheduled.message
        var writer = ByteWriter()
        message.write(to: &writer)
        try transaction.execute(
            """
            INSERT INTO scheduled_messages (application, id, due_at, turn, payload, trace)
            VALUES (
                \(application), \(message.id), \(message.dueAt), (
                    SELECT COALESCE(MAX(turn), 0) + 1 FROM scheduled_messages
                    WHERE application = \(application)
                ), \(writer.bytes), \(trace?.text)
            )
            """)
        for case .content(let content, _) in message.draft.parts.map(\.body) {
            try transaction.execute(
                """
                INSERT INTO scheduled_contents (application, message, content)
                VALUES (\(application), \(message.id), \(content))
                """)
            try use(content, in: message.conversation)
        }
        remember(scheduled.key, as: .scheduled, for: message.id.bytes)
        remember(Replay.Key(message.id), as: .scheduled, for: message.id.bytes)
    }

    /// What it was promised and nobody else needs goes along; a message that was sent needs it.
    func dropScheduled(_ id: Message.ID) throws {
        let contents = try transaction.rows(
            """
            SELECT content FROM scheduled_contents
            WHERE application = \(application) AND message = \(id)
            """
        ) { row in try row.id(0) as Content.ID }
        try transaction.execute(
            "DELETE FROM scheduled_contents WHERE application = \(application) AND message = \(id)")
        try release(contents)
        try transaction.execute(
            "DELETE FROM scheduled_messages WHERE application = \(application) AND id = \(id)")
    }
}
