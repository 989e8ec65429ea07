import Messaging
import SQL

extension MovedRecords {
    /// Of one that was deleted only that its id stands for nothing any more is told (R18).
    func conversations(after last: MovedConversation?) throws -> [MovedConversation] {
        let ids = try transaction.rows(
            """
            SELECT id FROM conversations
            WHERE application = \(application) AND id > \(last?.conversation.id.bytes ?? [])
            ORDER BY id LIMIT \(Self.stretch)
            """
        ) { row in try row.id(0) as Conversation.ID }
        return try ids.compactMap { id in
            try transaction.storedConversation(id, in: application)
        }.map(moved)
    }

    private func moved(_ conversation: Conversation) throws -> MovedConversation {
        guard let moment = conversation.deletedAt else {
            return MovedConversation(
                conversation,
                aliases: try transaction.aliases(of: conversation.id, in: application).sorted(),
                members: try members(of: conversation.id))
        }
        return MovedConversation(
            Conversation(
                id: conversation.id, createdAt: conversation.createdAt,
                participants: Participants([]), isDistinct: false, metadata: Metadata(),
                deletedAt: moment, version: conversation.version),
            aliases: try transaction.aliases(of: conversation.id, in: application).sorted(),
            members: [])
    }

    private func members(of conversation: Conversation.ID) throws -> [MovedMember] {
        let receipts = try transaction.receipts(in: [conversation], in: application)
        let hidden = try transaction.hidden(in: conversation, in: application)
        let members = try transaction.rows(
            """
            SELECT \(raw: Participant.columns), place, shown_from, frozen_metadata
            FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
            """
        ) { row in
            let part = try Participant(row)
            let owner = ReceiptOwner(conversation: conversation, user: part.userID)
            return MovedMember(
                part, place: try row.int64(6), shownFrom: try row.optionalPosition(7),
                hidden: IntervalSet(hidden[part.userID] ?? []),
                receipts: receipts[owner] ?? Receipts(),
                frozenMetadata: try row.optionalBlob(8).map(Metadata.init(columnBytes:)))
        }
        return members.sorted { left, right in
            (left.place, left.participant.userID) < (right.place, right.participant.userID)
        }
    }

    func forEachMessage(
        in conversation: Conversation.ID, _ tell: (MovedMessage) throws -> Void
    ) throws {
        try inStretches({ last in try messages(in: conversation, after: last) }, tell)
    }

    private func messages(
        in conversation: Conversation.ID, after last: MovedMessage?
    ) throws -> [MovedMessage] {
        let rows = try transaction.stretch(
            """
            SELECT id, weight, parts_made, blocks_changed_at FROM messages
            WHERE application = \(application) AND conversation = \(conversation)
                AND position > \(last?.message.position ?? .start)
            ORDER BY position LIMIT \(Self.stretch)
            """, weight: { row in try row.int64(1) }
        ) { row in
            (
                id: try row.id(0) as Message.ID, made: try row.optionalInt64(2),
                blocksChangedAt: try row.timestamp(3)
            )
        }.items
        let found = try transaction.messages(rows.map(\.id), in: application)
        let places = try places(ofPartsOf: rows.map(\.id))
        let contents = try contents(named: found.values.flatMap(\.parts).map(\.body))
        return rows.compactMap { row in
            found[row.id].map { message in
                let message = message.withPartsAsMade
                return MovedMessage(
                    message, partsMade: row.made,
                    places: message.parts.map { part in places[row.id]?[part.index] },
                    blocksChangedAt: row.blocksChangedAt,
                    contents: contents.of(message.parts.map(\.body)))
            }
        }
    }

    private func places(ofPartsOf messages: [Message.ID]) throws -> [Message.ID: [Int: Int64]] {
        guard !messages.isEmpty else { return [:] }
        let rows = try transaction.rows(
            """
            SELECT message, part_index, place FROM parts
            WHERE application = \(application) AND message IN (\(few: messages.map(\.bytes)))
                AND place IS NOT NULL
            """
        ) { row in
            (message: try row.id(0) as Message.ID, index: try row.int(1), place: try row.int64(2))
        }
        return rows.reduce(into: [:]) { places, row in
            places[row.message, default: [:]][row.index] = row.place
        }
    }
}

extension Metadata {
    fileprivate init(columnBytes: [UInt8]) throws {
        var reader = ByteReader(columnBytes)
        try self.init(from: &reader)
        try reader.finish()
    }
}

extension Message {
    fileprivate var withPartsAsMade: Message {
        Message(
            id: id, conversation: conversation, position: position, sender: sender, sentAt: sentAt,
            parts: parts.sorted { left, right in left.index < right.index }, updatedAt: updatedAt,
            version: version)
    }
}
