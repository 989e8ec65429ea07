import Messaging
import SQL

/// Finds the objects that events show, in their state right after each event (rulings 27).
struct EventResolver {
    let application: Application.ID
    let hash: @Sendable ([UInt8]) -> [UInt8]
    var history: ObjectHistory

    /// - Parameter first: The earliest event that will be resolved.
    init(
        _ transaction: Transaction, from first: LogPosition, in application: Application.ID,
        hash: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.application = application
        self.hash = hash
        history = ObjectHistory(transaction, from: first, in: application)
    }

    /// Resolves events in ascending order.
    ///
    /// - Returns: As many as fit into one response, at least one.
    mutating func shown(_ events: [RecordedEvent]) throws -> [ResolvedEvent] {
        try load(events)
        var shown: [ResolvedEvent] = []
        for recorded in events {
            guard shown.isEmpty || history.weight <= ResponseBudget.bytes else { break }
            shown.append(
                ResolvedEvent(
                    id: .naming(recorded, in: application, by: hash), recorded: recorded,
                    object: try object(of: recorded)))
        }
        return shown
    }

    private mutating func object(of recorded: RecordedEvent) throws -> ResolvedEvent.Object {
        let position = recorded.position
        switch recorded.event {
        case .messageSent(let sent):
            return .message(
                try history.snapshot(of: sent.message, isJustSent: true, at: position))
        case .partsChanged(let change):
            guard let message = try history.message(change.message, at: position) else {
                return .none
            }
            return .message(try history.snapshot(of: message, at: position))
        case .conversationCreated(let created):
            return .conversation(try history.snapshot(of: created.conversation, at: position))
        case .participantsChanged(let change):
            return try conversation(change.conversation, at: position)
        case .metadataChanged(let change):
            return try conversation(change.conversation, at: position)
        case .conversationMerged(let merge):
            return try conversation(merge.winner, at: position)
        case .identityPatched(let change):
            let user = try history.user(change.user, at: position)
            return user.isKnown ? .identity(user.identity) : .none
        case .announcementSent(let sent):
            guard let user = sent.announcement.sender.userID else { return .none }
            return .sender(try history.identity(of: user, at: position))
        case .applicationCreated, .applicationSuspended, .tokenCreated, .tokenRevoked,
            .identityNamed, .conversationMatched, .conversationShown, .conversationAnnounced,
            .conversationHidden, .conversationDeleted, .messageDeleted, .messageHidden,
            .receiptsRecorded, .contentUploaded, .contentWithdrawn, .blocksChanged,
            .announcementReceived, .announcementDeleted, .notificationSent, .exportKeyChanged,
            .exportRequested, .exportStarted, .exportCompleted, .exportDeleted, .exportExpired,
            .exportErased, .exportScheduleChanged, .identityReplaced, .identityDeleted,
            .followingChanged, .badgeSet, .userSuspended, .sessionsEnded, .sessionLifetimeSet,
            .messageScheduled, .scheduleEnded, .batchAccepted, .contentOwned, .contentsErased,
            .messageRemoved, .conversationRemoved, .recordImported, .webhookCreated,
            .webhookUpdated, .webhookSecretRotated, .webhookDeleted:
            return .none
        }
    }

    private mutating func conversation(
        _ id: Conversation.ID, at position: LogPosition
    ) throws -> ResolvedEvent.Object {
        guard let conversation = try history.conversation(id, at: position) else { return .none }
        return .conversation(try history.snapshot(of: conversation, at: position))
    }

    /// Loads the objects that the events refer to, with one statement for each kind of object.
    private mutating func load(_ events: [RecordedEvent]) throws {
        var users: Set<UserID> = []
        var conversations: Set<Conversation.ID> = []
        var messages: Set<Message.ID> = []
        for recorded in events {
            if case .user(let user) = recorded.actor { users.insert(user) }
            switch recorded.event {
            case .messageSent(let sent): conversations.insert(sent.message.conversation)
            case .receiptsRecorded(let receipts): conversations.insert(receipts.conversation)
            case .metadataChanged(let change): conversations.insert(change.conversation)
            case .partsChanged(let change):
                conversations.insert(change.conversation)
                messages.insert(change.message)
            case .participantsChanged(let change):
                conversations.insert(change.conversation)
                users.formUnion(change.added + change.removed + change.participants.users)
            case .conversationCreated(let created):
                users.formUnion(created.conversation.participants.users)
            case .conversationRemoved(let removed):
                users.formUnion(removed.conversation.participants.users)
            default: break
            }
        }
        try history.load(users: users, conversations: conversations, messages: messages)
    }
}

extension EventID {
    /// The id of an event, the same whenever it is delivered, so that receivers can detect duplicates.
    ///
    /// - Parameter part: Distinguishes the webhook events that come from one event.
    static func naming(
        _ recorded: RecordedEvent, _ part: [UInt8] = [], in application: Application.ID,
        by hash: ([UInt8]) -> [UInt8]
    ) -> EventID {
        let number = recorded.position.number
        let place = (0..<8).map { byte in UInt8(truncatingIfNeeded: number >> (56 - 8 * byte)) }
        let bits = hash(application.bytes + place + part).prefix(16)
            .reduce(UInt128(0)) { bits, byte in bits << 8 | UInt128(byte) }
        return .v7(at: recorded.at, random: bits)
    }
}
