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
            message: standing.first ?? removed.message,
            sender: telling.identity(removed.message.sender),
            recipients: removed.recipients.map { recipient in
                MessageSnapshot.Recipient(userID: recipient.user, status: recipient.status)
            }, isUnread: nil, receivedAt: nil)
    }

    /// A conversation as it is, or what it was merged into since (X1.2), with the participants the event
    /// tells of; `nil` for one of which there is no row.
    func conversation(
        _ id: Conversation.ID, _ participants: Participants?, _ telling: Telling
    ) throws -> ConversationSnapshot? {
        if case .conversation(let snapshot) = telling.shown.object { return snapshot }
        guard let winner = try transaction.winner(of: id, in: application),
            var found = try transaction.storedConversation(winner, in: application)
        else { return nil }
        if let participants { found.participants = participants }
        return try transaction.snapshot(of: found, in: application)
    }
}

extension Transaction {
    /// The messages a receipt is for, behind a place.
    ///
    /// What the reader sent himself lies among the positions and is no receipt (R78).
    ///
    /// - Parameter event: The place of the event in the log: merging may have moved messages since.
    func messages(
        of receipts: ReceiptsRecorded, recordedAt event: LogPosition, after place: Position,
        limit: Int, in application: Application.ID
    ) throws -> [Message] {
        var ids: [Message.ID] = []
        let (home, positions) = try standing(
            receipts.positions, of: receipts.conversation, since: event, in: application)
        for interval in positions.intervals where interval.upperBound > place.number {
            ids += try rows(
                """
                SELECT id FROM messages
                WHERE application = \(application) AND conversation = \(home)
                    AND position > \(place)
                    AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                    AND (sender_user IS NULL OR sender_user <> \(receipts.user))
                ORDER BY position LIMIT \(limit - ids.count)
                """
            ) { row in try row.id(0) as Message.ID }
            if ids.count == limit { break }
        }
        let found = try messages(ids, in: application)
        return ids.compactMap { id in found[id] }
    }
}
