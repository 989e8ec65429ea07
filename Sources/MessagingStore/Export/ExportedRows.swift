public import Messaging
import SQL

// All rows in stretches: a place and not a transaction is kept between them, because a long look
// would keep the write-ahead log from being emptied.
extension MessagingStore {
    /// Living conversations in the order of their ids.
    ///
    /// - Parameters:
    ///   - after: The last one of the stretch before; `nil` for the first stretch.
    ///   - moment: Younger ones are left out, so that the end is reached.
    ///   - limit: Most to return; fewer mean that there are no more.
    public func conversations(
        after: Conversation.ID?, createdUntil moment: Timestamp, limit: Int,
        in application: Application.ID
    ) async throws -> [ConversationSnapshot] {
        try await database.read { transaction in
            let ids = try transaction.rows(
                """
                SELECT id FROM conversations
                WHERE application = \(application) AND id > \(after?.bytes ?? [])
                    AND deleted_at IS NULL AND created_at <= \(moment)
                ORDER BY id LIMIT \(limit)
                """
            ) { row in try row.id(0) as Conversation.ID }
            return try ids.compactMap { id in
                try transaction.storedConversation(id, in: application).map { conversation in
                    try transaction.snapshot(of: conversation, in: application)
                }
            }
        }
    }

    /// Whether conversations have been merged since a place of the log: messages are then no more where a
    /// look in stretches has been, or will be.
    public func hasMerged(since place: LogPosition, in application: Application.ID) async throws
        -> Bool
    {
        try await database.read { transaction in
            // In the words of the index, so that it is read.
            try transaction.first(
                """
                SELECT 1 FROM events
                WHERE application = \(application) AND kind = 'conversation.merged'
                    AND position > \(place)
                LIMIT 1
                """
            ) { _ in true } ?? false
        }
    }

    /// Messages of living conversations, each conversation's together and in their order.
    ///
    /// - Parameters:
    ///   - after: The last one of the stretch before; `nil` for the first stretch.
    ///   - moment: Younger ones are left out, so that the end is reached.
    ///   - limit: Most to return; fewer mean that there are no more.
    public func messages(
        after: Message?, sentUntil moment: Timestamp, limit: Int, in application: Application.ID
    ) async throws -> [MessageSnapshot] {
        try await database.read { transaction in
            let ids = try transaction.rows(
                """
                SELECT m.id FROM messages m
                JOIN conversations c ON c.application = m.application AND c.id = m.conversation
                WHERE m.application = \(application)
                    AND (m.conversation, m.position)
                        > (\(after?.conversation.bytes ?? []), \(after?.position ?? .start))
                    AND m.sent_at <= \(moment) AND c.deleted_at IS NULL
                ORDER BY m.conversation, m.position LIMIT \(limit)
                """
            ) { row in try row.id(0) as Message.ID }
            let found = try transaction.messages(ids, in: application)
            return try transaction.snapshots(
                of: ids.compactMap { id in found[id] }, in: application)
        }
    }
}
