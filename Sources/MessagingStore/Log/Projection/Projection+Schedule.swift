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
            INSERT INTO scheduled_messages (application, id, due_at, turn, payload)
            VALUES (
                \(application), \(message.id), \(message.dueAt), (
                    SELECT COALESCE(MAX(turn), 0) + 1 FROM scheduled_messages
                    WHERE application = \(application)
                ), \(writer.bytes)
            )
            """)
        for case .content(let content, _) in message.draft.parts.map(\.body) {
            try bind(content, to: message.conversation)
        }
        try remember(scheduled.key, as: .scheduled, for: message.id.bytes)
        try remember(Replay.Key(message.id), as: .scheduled, for: message.id.bytes)
    }

    func dropScheduled(_ id: Message.ID) throws {
        try transaction.execute(
            "DELETE FROM scheduled_messages WHERE application = \(application) AND id = \(id)")
    }
}
