import Messaging
import SQL

extension Projection {
    /// Remembers where a message stood, for who reads the log after its deletion.
    func remember(deleted message: Message) throws {
        try transaction.execute(
            """
            INSERT INTO deleted_messages (
                application, id, conversation, position, sender_user, sent, event
            )
            SELECT application, id, conversation, position, sender_user, event, \(position)
            FROM messages
            WHERE application = \(application) AND id = \(message.id)
            """)
    }

    /// Removes a message everywhere and takes it out of every count (R29).
    func delete(_ id: Message.ID, in conversation: Conversation.ID, at place: Position) throws {
        let sender = try transaction.sender(of: id, in: application)
        let contents = try transaction.rows(
            """
            SELECT content FROM parts
            WHERE application = \(application) AND message = \(id) AND content IS NOT NULL
            """
        ) { row in try row.id(0) as Content.ID }
        try transaction.execute(
            "DELETE FROM parts WHERE application = \(application) AND message = \(id)")
        try transaction.execute(
            "DELETE FROM messages WHERE application = \(application) AND id = \(id)")
        try release(contents)
        try uncount(place, sentBy: sender, in: conversation)
        // Its id stays taken, so a late repeat of the sending does not bring it back (rulings 12).
        remember(Replay.Key(id), as: .message, for: id.bytes)
    }

    /// Takes a message out of all views: those that show it, and those that hide it.
    private func uncount(
        _ place: Position, sentBy sender: UserID?, in conversation: Conversation.ID
    ) throws {
        try transaction.execute(
            """
            UPDATE conversations SET message_count = message_count - 1
            WHERE application = \(application) AND id = \(conversation)
            """)
        let hiders = try askHiders(of: place, in: conversation)
        // Names of users are never empty, so the empty one stands for nobody.
        let readers = try readers(of: place, in: conversation).map(\.text) + [sender?.text ?? ""]
        let hidden = try hiders.rows().map(\.text) + [""]
        try transaction.execute(
            """
            UPDATE participants SET unshown_count = unshown_count - 1
            WHERE application = \(application) AND conversation = \(conversation)
                AND (left_after IS NULL OR left_after >= \(place))
                AND (cleared_to >= \(place) OR user_id IN (\(few: hidden)))
            """)
        try transaction.execute(
            """
            UPDATE participants SET
                total_count = total_count - 1,
                unread_count = unread_count - CASE
                    WHEN joined_after < \(place) AND user_id NOT IN (\(few: readers)) THEN 1
                    ELSE 0
                END
            WHERE application = \(application) AND conversation = \(conversation)
                AND (left_after IS NULL OR left_after >= \(place))
                AND cleared_to < \(place) AND user_id NOT IN (\(few: hidden))
            """)
        try transaction.execute(
            """
            DELETE FROM hidden_messages
            WHERE application = \(application) AND conversation = \(conversation)
                AND position = \(place)
            """)
        try findLastMessage(in: conversation, of: nil, insteadOf: place)
    }

    func askHiders(
        of place: Position, in conversation: Conversation.ID
    ) throws -> DeferredRows<UserID> {
        try transaction.ask(
            """
            SELECT user_id FROM hidden_messages
            WHERE application = \(application) AND conversation = \(conversation)
                AND position = \(place)
            ORDER BY user_id
            """
        ) { row in try row.user(0) }
    }

    func readers(of place: Position, in conversation: Conversation.ID) throws -> [UserID] {
        try transaction.receipts(in: [conversation], in: application)
            .filter { _, receipts in receipts.read.contains(place.number) }
            .map { owner, _ in owner.user }
            .sorted()
    }
}
