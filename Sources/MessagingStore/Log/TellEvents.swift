public import Messaging
import SQL

extension MessagingStore {
    /// What receivers hear of an event.
    ///
    /// Almost always one thing; a receipt over many messages is told of each of them.
    ///
    /// - Parameters:
    ///   - place: The message after which a receipt is told on; `.start` at first.
    ///   - limit: Most to return; fewer mean that this is all. Empty for an event without a topic.
    public func told(
        _ recorded: RecordedEvent, after place: Position = .start, limit: Int,
        in application: Application.ID
    ) async throws -> [ToldEvent] {
        guard let event = recorded.event.tellable else { return [] }
        let hash = environment.sha256
        return try await database.read { transaction in
            let teller = EventTeller(
                transaction: transaction, application: application, recorded: recorded,
                event: event, hash: hash)
            return try teller.tell(after: place, limit: limit)
        }
    }
}

/// Finds the objects of one event.
private struct EventTeller {
    let transaction: Transaction
    let application: Application.ID
    let recorded: RecordedEvent
    let event: TellableEvent
    let hash: @Sendable ([UInt8]) -> [UInt8]

    func tell(after place: Position, limit: Int) throws -> [ToldEvent] {
        switch event {
        case .messageSent(let sent):
            return try tell([sent.message], by: sent.message.sender)
        case .receiptsRecorded(let receipts):
            let messages = try messages(of: receipts, after: place, limit: limit)
            return try tell(messages, by: .user(receipts.user))
        case .messageDeleted(let id, let conversation):
            return [told(.deletedMessage(id, in: conversation))]
        case .conversationCreated(let conversation):
            return [try tell(conversation)]
        case .participantsChanged(let change):
            return try tell(change.conversation, change.participants)
        case .metadataChanged(let id), .conversationDeleted(let id):
            return try tell(id, nil)
        }
    }

    private func tell(_ messages: [Message], by actor: Sender) throws -> [ToldEvent] {
        try transaction.snapshots(of: messages, in: application).map { snapshot in
            told(.message(snapshot), by: actor, about: snapshot.message.id.bytes)
        }
    }

    private func tell(_ conversation: Conversation) throws -> ToldEvent {
        told(.conversation(try transaction.snapshot(of: conversation, in: application)))
    }

    /// A conversation as its row is, with the participants the event tells of.
    private func tell(
        _ id: Conversation.ID, _ participants: Participants?
    ) throws -> [ToldEvent] {
        guard var conversation = try transaction.storedConversation(id, in: application) else {
            return []
        }
        if let participants { conversation.participants = participants }
        return [try tell(conversation)]
    }

    private func told(
        _ subject: ToldEvent.Subject, by actor: Sender? = nil, about part: [UInt8] = []
    ) -> ToldEvent {
        ToldEvent(
            occurrence: Occurrence(
                id: .naming(recorded, part, in: application, by: hash), topic: event.topic,
                at: recorded.at, actor: actor),
            subject: subject)
    }

    /// What the reader sent himself lies among the positions and is no receipt (R78).
    private func messages(
        of receipts: ReceiptsRecorded, after place: Position, limit: Int
    ) throws -> [Message] {
        var ids: [Message.ID] = []
        for interval in receipts.positions.intervals where interval.upperBound > place.number {
            ids += try transaction.rows(
                """
                SELECT id FROM messages
                WHERE application = \(application) AND conversation = \(receipts.conversation)
                    AND position > \(place)
                    AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                    AND (sender_user IS NULL OR sender_user <> \(receipts.user))
                ORDER BY position LIMIT \(limit - ids.count)
                """
            ) { row in try row.id(0) as Message.ID }
            if ids.count == limit { break }
        }
        let found = try transaction.messages(ids, in: application)
        return ids.compactMap { id in found[id] }
    }
}
