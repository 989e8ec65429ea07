import Messaging
import SQL

/// One event that is being told of, with what was found for it.
struct Telling {
    let recorded: RecordedEvent
    let shown: ShownEvent
    /// What is known of everybody the events of the stretch name.
    let identities: [UserID: BasicIdentity]

    /// Somebody as webhooks from 2.0 on name him; a service has only a name.
    func identity(_ sender: Sender) -> BasicIdentity? {
        sender.userID.map(identities.identity)
    }
}

extension Sender {
    /// Who did something on behalf of himself; `nil` for the holder of a token.
    init?(_ actor: Actor) {
        switch actor {
        case .user(let user): self = .user(user)
        case .named(let name): self = .named(name)
        case .token: return nil
        }
    }
}

extension EventTeller {
    /// What is known of everybody events are told with: who did it, who came or went.
    func identities(of events: [RecordedEvent]) throws -> [UserID: BasicIdentity] {
        let users = events.reduce(into: Set<UserID>()) { users, recorded in
            if case .user(let user) = recorded.actor { users.insert(user) }
            if case .participantsChanged(let change) = recorded.event {
                users.formUnion(change.added + change.removed)
            } else if case .messageRemoved(let removed) = recorded.event,
                let sender = removed.message.sender.userID
            {
                users.insert(sender)
            }
        }
        return try transaction.identities(of: users, in: application)
    }

    /// A message as it was before its deletion.
    func snapshot(of removed: MessageRemoved, _ telling: Telling) throws -> MessageSnapshot {
        let standing = try transaction.standing([removed.message], in: application)
        return MessageSnapshot(
            removed, standing: standing.first ?? removed.message, telling.identities)
    }

    /// A conversation as it is, or what it was merged into since (X1.2), with the participants the event
    /// tells of; `nil` for one of which there is no row.
    func conversation(
        _ id: Conversation.ID, _ participants: Participants?, _ telling: Telling
    ) throws -> ConversationSnapshot? {
        if case .conversation(let snapshot) = telling.shown.object { return snapshot }
        guard let winner = try transaction.winner(of: id, in: application),
            var found = try transaction.lastConversation(winner, in: application)
        else { return nil }
        if let participants { found.participants = participants }
        return try transaction.snapshot(of: found, in: application)
    }
}

/// A message that a receipt is for.
struct ReceivedMessage {
    let id: Message.ID
    let position: Position
    /// The place in the log of its deletion, which came later than the receipt; `nil` while it is there.
    let deletion: Int64?
}

extension Transaction {
    /// The messages a receipt is for, behind a place, also those that were deleted since.
    ///
    /// What the reader sent himself lies among the positions and is no receipt (R78).
    ///
    /// - Parameter event: The place of the event in the log: merging may have moved messages since.
    func messages(
        of receipts: ReceiptsRecorded, recordedAt event: LogPosition, after place: Position,
        limit: Int, in application: Application.ID
    ) throws -> [ReceivedMessage] {
        var messages: [ReceivedMessage] = []
        let (home, positions) = try standing(
            receipts.positions, of: receipts.conversation, since: event, in: application)
        for interval in positions.intervals where interval.upperBound > place.number {
            messages += try rows(
                """
                SELECT id, position, NULL AS event FROM messages
                WHERE application = \(application) AND conversation = \(home)
                    AND position > \(place)
                    AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                    AND (sender_user IS NULL OR sender_user <> \(receipts.user))
                UNION ALL
                SELECT id, position, event FROM deleted_messages
                WHERE application = \(application) AND conversation = \(home)
                    AND position > \(place)
                    AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                    AND (sender_user IS NULL OR sender_user <> \(receipts.user))
                    AND event > \(event)
                ORDER BY position LIMIT \(limit - messages.count)
                """
            ) { row in
                ReceivedMessage(
                    id: try row.id(0), position: try row.position(1),
                    deletion: try row.optionalInt64(2))
            }
            if messages.count == limit { break }
        }
        return messages
    }

    /// The same with what they show, in the same order.
    func snapshots(
        of received: [ReceivedMessage], in application: Application.ID
    ) throws -> [MessageSnapshot] {
        let there = received.filter { message in message.deletion == nil }.map(\.id)
        let known = try messages(there, in: application)
        let found = try lastSnapshots(
            of: Array(known.values), deletedAt: received.compactMap(\.deletion), in: application)
        return received.compactMap { message in found[message.id] }
    }
}
