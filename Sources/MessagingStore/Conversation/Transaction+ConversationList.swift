import Messaging
import SQL

/// A conversation of an application's list, without its participants.
struct ConversationRow: FilteredItem {
    let conversation: Conversation
    let weight: Int64

    var id: Conversation.ID { conversation.id }

    var place: CreationPlace<Conversation.ID> {
        CreationPlace(time: conversation.createdAt, id: id)
    }
}

extension Transaction {
    /// A page of the conversations that live, straight from their index, as much as one answer holds.
    func conversations(
        after place: CreationPlace<Conversation.ID>, limit: Int, in application: Application.ID
    ) throws -> Stretch<ConversationRow> {
        try stretch(
            .conversations(after: place, limit: limit, in: application),
            weight: { row in try row.int64(10) }
        ) { row in
            ConversationRow(conversation: try Conversation(row), weight: try row.int64(10))
        }
    }

    /// The conversations that live and pass a filter, behind one of them, and how many pass in all.
    ///
    /// - Throws: `Rejection.tooMany` when more than `ConversationFilter.limit` had to be checked.
    func conversations(
        matching filter: ConversationFilter, after last: CreationPlace<Conversation.ID>?,
        limit: Int,
        in application: Application.ID
    ) throws -> (stretch: Stretch<ConversationRow>, total: Int64) {
        try filtered(
            from: CreationPlace.start(before: filter.createdBefore),
            after: last?.item(before: filter.createdBefore), limit: limit
        ) { place, limit in
            try conversations(after: place, limit: limit, in: application)
        } passes: { rows in
            let present = try participants(of: rows.map(\.id), in: application)
            return rows.map { row in
                filter.admits(
                    present[row.id] ?? Participants([]), isDistinct: row.conversation.isDistinct,
                    metadata: row.conversation.metadata.view,
                    createdAt: row.conversation.createdAt)
            }
        } place: { row in
            if let after = filter.createdAfter, row.conversation.createdAt <= after { return nil }
            return row.place
        }
    }

    /// Where a conversation stands in the list; `nil` when it does not live.
    func place(
        of id: Conversation.ID, in application: Application.ID
    ) throws -> CreationPlace<Conversation.ID>? {
        try first(
            """
            SELECT created_at FROM conversations
            WHERE application = \(application) AND id = \(id) AND deleted_at IS NULL
            """
        ) { row in CreationPlace(time: try row.timestamp(0), id: id) }
    }

    /// Rows of the list with what they show, in a constant number of statements.
    func snapshots(
        of rows: [ConversationRow], in application: Application.ID
    ) throws -> [ConversationSnapshot] {
        guard !rows.isEmpty else { return [] }
        let participants = try participants(of: rows.map(\.id), in: application)
        let identities = try identities(
            of: Set(participants.values.flatMap(\.users)), in: application)
        return rows.map { row in
            var conversation = row.conversation
            conversation.participants = participants[row.id] ?? Participants([])
            return ConversationSnapshot(
                conversation: conversation,
                participants: conversation.participants.users.map(identities.identity))
        }
    }
}

extension SQL {
    /// A page of an application's conversations that live, newest first; see `Conversation.columns`.
    static func conversations(
        after place: CreationPlace<Conversation.ID>, limit: Int, in application: Application.ID
    ) -> SQL {
        """
        SELECT \(raw: Conversation.columns), CAST(LENGTH(metadata) AS BIGINT) FROM conversations
        WHERE application = \(application) AND deleted_at IS NULL
            AND (created_at, id) < (\(place.time), \(place.id?.bytes ?? []))
        ORDER BY created_at DESC, id DESC LIMIT \(limit)
        """
    }
}
