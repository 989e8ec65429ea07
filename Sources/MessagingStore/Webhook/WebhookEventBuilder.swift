import Messaging
import SQL

/// Builds the webhook events of recorded events, with objects in their state right after each event (rulings
/// 27).
struct WebhookEventBuilder {
    let transaction: Transaction
    let application: Application.ID
    let hash: @Sendable ([UInt8]) -> [UInt8]
    /// The topics that receivers of each version subscribe to.
    let wanted: [WebhookVersion: Set<WebhookTopic>]
    /// The approximate maximum number of webhook events: those of one recorded event stay together, except
    /// receipts.
    let limit: Int

    /// The earliest event that is built from.
    private let first: LogPosition
    private var history: ObjectHistory

    /// The webhook events built so far.
    private(set) var told: [WebhookEvent] = []

    init(
        transaction: Transaction, from first: LogPosition, in application: Application.ID,
        hash: @escaping @Sendable ([UInt8]) -> [UInt8], wanted: [WebhookVersion: Set<WebhookTopic>],
        limit: Int
    ) {
        self.transaction = transaction
        self.application = application
        self.first = first
        history = ObjectHistory(transaction, from: first, in: application)
        self.hash = hash
        self.wanted = wanted
        self.limit = limit
    }

    /// Builds the webhook events of recorded events, in order.
    ///
    /// - Parameter place: How far the first event was already built.
    /// - Returns: Where it stopped at the limit; `nil` when all events are built.
    mutating func tell(_ events: [RecordedEvent], within place: Position) throws
        -> WebhookCheckpoint?
    {
        var shower = EventResolver(transaction, from: first, in: application, hash: hash)
        let all = try shower.shown(events)
        history = shower.history
        var within = place
        for shown in all {
            let recorded = shown.recorded
            let before = LogPosition(recorded.position.number - 1)
            guard told.count < limit else { return WebhookCheckpoint(after: before) }
            guard let event = recorded.event.tellable else { continue }
            // Of an event that was begun, later versions already have their webhook events.
            if within == .start { try tellOnce(event, shown) }
            if case .receiptsRecorded(let receipts) = event,
                let last = try tellEach(of: receipts, after: within, shown)
            {
                return WebhookCheckpoint(after: before, within: last)
            }
            within = .start
        }
        guard all.count < events.count, let last = all.last else { return nil }
        return WebhookCheckpoint(after: last.recorded.position)
    }

    /// Builds everything except the receipts of version 1.0.
    private mutating func tellOnce(_ event: TellableEvent, _ shown: ResolvedEvent) throws {
        let position = shown.recorded.position
        switch event {
        case .messageSent(let sent):
            guard case .message(let snapshot) = shown.object else { return }
            // Only the id of a message is also known outside of webhooks (webhooks §4.1).
            try add(
                .messageSent, .message(snapshot), shown, in: [.v2_0, .v3_0],
                as: EventID(sent.message.id))
            try add(
                .messageSent, .message(snapshot), shown, in: [.v1_0],
                as: name(shown, sent.message.id.bytes))
        case .receiptsRecorded(let receipts):
            let intervals = receipts.positions.intervals
            guard let first = intervals.first, let last = intervals.last else { return }
            // A range: all messages in it were received or read before.
            try add(
                .receiptCreated,
                .receipt(
                    receipts.kind, first.lowerBound...last.upperBound, in: receipts.conversation),
                shown)
        case .partsChanged(let change): try tell(change, shown)
        case .messageDeleted(let id, let conversation):
            try add(.messageDeleted, .deletedMessage(id, in: conversation), shown)
        case .messageRemoved(let removed):
            try add(
                .messageDeleted, .message(try history.snapshot(of: removed, at: position)), shown)
        case .conversationCreated:
            guard case .conversation(let found) = shown.object else { return }
            try add(.conversationCreated, .conversation(found), shown)
        case .metadataChanged:
            guard case .conversation(let found) = shown.object else { return }
            try add(.metadataChanged, .conversation(found), shown)
        case .conversationMerged(let merge):
            guard case .conversation(let found) = shown.object else { return }
            try add(.conversationMerged, .merged(found, aliases: merge.aliases), shown)
            // Receivers that do not subscribe to merges receive the resulting metadata. Without writes there
            // never was any.
            guard merge.loser != nil, merge.metadata.latestWrite != nil else { return }
            try add(
                .metadataChanged, .conversation(found), shown,
                as: name(shown, Array(WebhookTopic.metadataChanged.rawValue.utf8)))
        case .participantsChanged(let change): try tell(change, shown)
        case .conversationDeleted(let id):
            let before = LogPosition(position.number - 1)
            guard let last = try history.conversation(id, at: before) else { return }
            try add(
                .conversationDeleted, .conversation(try history.snapshot(of: last, at: before)),
                shown)
        case .conversationRemoved(let conversation):
            try add(
                .conversationDeleted,
                .conversation(try history.snapshot(of: conversation, at: position)), shown)
        }
    }

    private mutating func tell(_ change: ParticipantsChanged, _ shown: ResolvedEvent) throws {
        guard case .conversation(let snapshot) = shown.object else { return }
        try add(.participantsChanged, .conversation(snapshot), shown)
        for (topic, users) in [
            (WebhookTopic.participationCreated, change.added),
            (.participationDeleted, change.removed),
        ] where !users.isEmpty {
            let changes = try users.map { user in
                try history.identity(of: user, at: shown.recorded.position)
            }
            try add(
                topic, .participation(snapshot, changes: changes), shown,
                as: name(shown, Array(topic.rawValue.utf8)))
        }
    }

    private mutating func tell(_ change: PartsChanged, _ shown: ResolvedEvent) throws {
        if case .message(let snapshot) = shown.object {
            try add(.messageUpdated, .message(snapshot), shown)
        }
        for (topic, parts) in [
            (WebhookTopic.partCreated, change.created), (.partUpdated, change.updated),
        ] {
            for part in parts {
                try add(
                    topic, .part(part, of: change.message, in: change.conversation), shown,
                    as: name(shown, part.id.bytes))
            }
        }
        for part in change.removed {
            try add(
                .partDeleted, .deletedPart(part, of: change.message, in: change.conversation),
                shown, as: name(shown, part.id.bytes))
        }
    }

    /// Builds the webhook events of a receipt for version 1.0, one for each message.
    ///
    /// - Returns: The last position built, when the limit was reached.
    private mutating func tellEach(
        of receipts: ReceiptsRecorded, after place: Position, _ shown: ResolvedEvent
    ) throws -> Position? {
        let topic: WebhookTopic = receipts.kind == .read ? .messageRead : .messageDelivered
        guard wanted[.v1_0]?.contains(topic) == true else { return nil }
        // At least one, so that building an event always makes progress.
        let room = max(1, limit - told.count)
        let messages = try history.messages(
            of: receipts, at: shown.recorded.position, after: place, limit: room)
        for message in messages {
            let snapshot = try history.snapshot(of: message, at: shown.recorded.position)
            try add(topic, .message(snapshot), shown, as: name(shown, message.id.bytes))
        }
        return messages.count == room ? messages.last?.position : nil
    }

    // MARK: - One webhook event

    /// Adds a webhook event for the versions that have the topic and subscribe to it.
    private mutating func add(
        _ topic: WebhookTopic, _ subject: WebhookEvent.Subject, _ shown: ResolvedEvent,
        in versions: Set<WebhookVersion> = Set(WebhookVersion.allCases), as id: EventID? = nil
    ) throws {
        let recorded = shown.recorded
        let hearing = versions.intersection(topic.versions).filter { version in
            wanted[version]?.contains(topic) == true
        }
        let actor = recorded.actor.flatMap(Sender.init)
        // Later versions share one representation; 1.0 has its own.
        for versions in [hearing.intersection([.v1_0]), hearing.subtracting([.v1_0])]
        where !versions.isEmpty {
            told.append(
                WebhookEvent(
                    versions: versions, position: recorded.position,
                    occurrence: WebhookEventHeader(
                        id: id ?? shown.id, topic: topic, at: recorded.at, actor: actor),
                    trace: recorded.trace,
                    actor: try actor?.userID.map { user in
                        try history.identity(of: user, at: recorded.position)
                    },
                    subject: subject))
        }
    }

    private func name(_ shown: ResolvedEvent, _ part: [UInt8]) -> EventID {
        .naming(shown.recorded, part, in: application, by: hash)
    }
}

extension Sender {
    /// The user or service that acted; `nil` for the holder of a token.
    fileprivate init?(_ actor: EventActor) {
        switch actor {
        case .user(let user): self = .user(user)
        case .named(let name): self = .named(name)
        case .token: return nil
        }
    }
}
