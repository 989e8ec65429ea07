import Messaging
import SQL

extension Projection {
    /// Removes a message everywhere and takes it out of every count (R29).
    func delete(_ id: Message.ID, in conversation: Conversation.ID, at place: Position) throws {
        let sender = try transaction.first(
            "SELECT sender_user FROM messages WHERE application = \(application) AND id = \(id)"
        ) { row in try row.optionalUser(0) }
        try uncount(place, sentBy: sender ?? nil, in: conversation)
        let contents = try transaction.rows(
            """
            SELECT DISTINCT content FROM parts
            WHERE application = \(application) AND message = \(id) AND content IS NOT NULL
            """
        ) { row in try row.id(0) as Content.ID }
        try transaction.execute(
            "DELETE FROM parts WHERE application = \(application) AND message = \(id)")
        try transaction.execute(
            "DELETE FROM messages WHERE application = \(application) AND id = \(id)")
        for content in contents { try dropUnlessAttached(content) }
        // Its id stays taken, so a late repeat of the sending does not bring it back (rulings 12).
        try remember(Replay.Key(id), as: .message, for: id.bytes)
    }

    private func uncount(
        _ place: Position, sentBy sender: UserID?, in conversation: Conversation.ID
    ) throws {
        try transaction.execute(
            """
            UPDATE conversations SET message_count = message_count - 1
            WHERE application = \(application) AND id = \(conversation)
            """)
        try transaction.execute(
            """
            UPDATE participants SET messages_before = messages_before - 1
            WHERE application = \(application) AND conversation = \(conversation)
                AND joined_after >= \(place)
            """)
        try transaction.execute(
            """
            UPDATE participants SET messages_until = messages_until - 1
            WHERE application = \(application) AND conversation = \(conversation)
                AND left_after >= \(place)
            """)
        if let sender { try uncount("sent_count", of: sender, place, in: conversation) }
        for reader in try readers(of: place, in: conversation) where reader != sender {
            try uncount("read_count", of: reader, place, in: conversation)
        }
    }

    /// Takes one from a count of who was there when the message was sent.
    private func uncount(
        _ count: StaticString, of user: UserID, _ place: Position,
        in conversation: Conversation.ID
    ) throws {
        try transaction.execute(
            """
            UPDATE participants SET \(raw: count) = \(raw: count) - 1
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(user) AND joined_after < \(place)
                AND (left_after IS NULL OR left_after >= \(place))
            """)
    }

    private func readers(of place: Position, in conversation: Conversation.ID) throws -> [UserID] {
        try transaction.receipts(in: [conversation], in: application)
            .filter { _, receipts in receipts.read.contains(place.number) }
            .map { owner, _ in owner.user }
            .sorted()
    }
}
