import Messaging
import SQL

/// Finds what events show beside what they say, a few statements for many of them.
struct EventShower {
    let transaction: Transaction
    let application: Application.ID
    let hash: @Sendable ([UInt8]) -> [UInt8]

    func shown(_ events: [RecordedEvent]) throws -> [ShownEvent] {
        let messages = try messages(of: events)
        var conversations: [Conversation.ID: Conversation] = [:]
        return try events.map { recorded in
            ShownEvent(
                id: .naming(recorded, in: application, by: hash), recorded: recorded,
                object: try object(of: recorded.event, messages, &conversations))
        }
    }

    private func object(
        of event: Event, _ messages: [Message.ID: MessageSnapshot],
        _ conversations: inout [Conversation.ID: Conversation]
    ) throws -> ShownEvent.Object {
        switch event {
        case .messageSent(let sent):
            // What became of it since is told by the events that follow.
            return messages[sent.message.id].map { found in
                .message(found.justSent(sent.message))
            } ?? .none
        case .partsChanged(let change):
            return messages[change.message].map { found in .message(found) } ?? .none
        case .conversationCreated(let created):
            return .conversation(
                try transaction.snapshot(of: created.conversation, in: application))
        case .participantsChanged(let change):
            return try conversation(change.conversation, change.participants, &conversations)
        case .metadataChanged(let change):
            return try conversation(change.conversation, nil, &conversations)
        case .conversationMerged(let merge):
            return try conversation(merge.winner, nil, &conversations)
        case .identityPatched(let change):
            return try transaction.user(change.user, in: application)?.knownIdentity
                .map { identity in .identity(identity) } ?? .none
        case .announcementSent(let sent):
            guard let user = sent.announcement.sender.userID else { return .none }
            return .sender(
                try transaction.identities(of: [user], in: application).identity(of: user))
        case .applicationCreated, .applicationSuspended, .tokenCreated, .tokenRevoked,
            .identityNamed, .conversationMatched, .conversationShown, .conversationAnnounced,
            .conversationHidden, .conversationDeleted, .messageDeleted, .messageHidden,
            .receiptsRecorded, .contentUploaded, .contentWithdrawn, .blocksChanged,
            .announcementReceived, .announcementDeleted, .notificationSent, .exportKeyChanged,
            .exportRequested, .exportStarted, .exportCompleted, .exportDeleted, .exportExpired,
            .exportErased, .exportScheduleChanged, .identityTold, .identityDeleted,
            .followingChanged, .badgeSet, .userSuspended, .sessionsEnded, .sessionLifetimeSet,
            .messageScheduled, .scheduleEnded, .batchAccepted, .contentOwned, .contentsErased,
            .messageRemoved, .conversationRemoved, .recordImported, .webhookCreated,
            .webhookUpdated, .webhookSecretRotated, .webhookDeleted:
            return .none
        }
    }

    /// Messages that were sent, from the events, and those that were changed, from their rows.
    private func messages(of events: [RecordedEvent]) throws -> [Message.ID: MessageSnapshot] {
        var sent: [Message.ID: Message] = [:]
        var changed: [Message.ID] = []
        for recorded in events {
            if case .messageSent(let sending) = recorded.event {
                sent[sending.message.id] = sending.message
            } else if case .partsChanged(let change) = recorded.event {
                changed.append(change.message)
            }
        }
        let found = try transaction.messages(changed, in: application)
        let known = Array(sent.merging(found) { _, now in now }.values)
        let deleted = changed.filter { id in found[id] == nil }
        return try transaction.lastSnapshots(
            of: try transaction.standing(known, in: application),
            deletedAt: try transaction.deletions(of: deleted, in: application), in: application)
    }

    private func conversation(
        _ id: Conversation.ID, _ participants: Participants?,
        _ known: inout [Conversation.ID: Conversation]
    ) throws -> ShownEvent.Object {
        guard
            var conversation = try known[id] ?? transaction.lastConversation(id, in: application)
        else { return .none }
        known[id] = conversation
        if let participants { conversation.participants = participants }
        return .conversation(try transaction.snapshot(of: conversation, in: application))
    }
}

extension MessageSnapshot {
    /// The message as it was when it had just been sent: read by its sender and by nobody else (R71).
    fileprivate func justSent(_ message: Message) -> MessageSnapshot {
        MessageSnapshot(
            message: message, sender: sender,
            recipients: recipients.map { recipient in
                Recipient(
                    userID: recipient.userID,
                    status: message.status(of: recipient.userID, nil))
            }, isUnread: nil, receivedAt: nil)
    }
}

extension Occurrence.ID {
    /// The same name for the same occurrence, however often it is told: receivers know doubles by it.
    ///
    /// - Parameter part: What of the event, where it is told in several.
    static func naming(
        _ recorded: RecordedEvent, _ part: [UInt8] = [], in application: Application.ID,
        by hash: ([UInt8]) -> [UInt8]
    ) -> Occurrence.ID {
        let number = recorded.position.number
        let place = (0..<8).map { byte in UInt8(truncatingIfNeeded: number >> (56 - 8 * byte)) }
        let bits = hash(application.bytes + place + part).prefix(16)
            .reduce(UInt128(0)) { bits, byte in bits << 8 | UInt128(byte) }
        return .v7(at: recorded.at, random: bits)
    }
}
