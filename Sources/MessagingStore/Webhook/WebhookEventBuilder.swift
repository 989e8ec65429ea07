import Messaging
import SQL

/// Finds what receivers hear of events, with the objects as they were right after each (rulings 27).
struct WebhookEventBuilder {
    let transaction: Transaction
    let application: Application.ID
    let hash: @Sendable ([UInt8]) -> [UInt8]
    /// What receivers of each version have asked for.
    let wanted: [WebhookVersion: Set<WebhookTopic>]
    /// About how many things to tell: an event that is several is told whole, but for receipts.
    let limit: Int

    /// The earliest event that is told of.
    private let first: LogPosition
    private var history: ObjectHistory

    /// What has been told so far.
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

    /// Tells of events in their order.
    ///
    /// - Parameter place: How far the first of them is told of.
    /// - Returns: Where it stopped, being full; `nil` when all is told.
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
            // What was begun is told to later versions already.
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

    /// Everything but the receipts of 1.0.
    private mutating func tellOnce(_ event: TellableEvent, _ shown: ResolvedEvent) throws {
        let position = shown.recorded.position
        switch event {
        case .messageSent(let sent):
            guard case .message(let snapshot) = shown.object else { return }
            // Of all that is told only this has a name given outside (webhooks §4.1).
            try add(
                .messageSent, .message(snapshot), shown, in: [.v2_0, .v3_0],
                as: EventID(sent.message.id))
            try add(
                .messageSent, .message(snapshot), shown, in: [.v1_0],
                as: name(shown, sent.message.id.bytes))
        case .receiptsRecorded(let receipts):
            let intervals = receipts.positions.intervals
            guard let first = intervals.first, let last = intervals.last else { return }
            // A range: what lies within it was received, or read, before.
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
            // Receivers that know no merging hear of what came of it. Without writes there never was
            // any metadata.
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

    /// Tells 1.0 of each message a receipt is for.
    ///
    /// - Returns: The last one told of, when there was no room for more.
    private mutating func tellEach(
        of receipts: ReceiptsRecorded, after place: Position, _ shown: ResolvedEvent
    ) throws -> Position? {
        let topic: WebhookTopic = receipts.kind == .read ? .messageRead : .messageDelivered
        guard wanted[.v1_0]?.contains(topic) == true else { return nil }
        // One at least: what the event was told as before must not be told again.
        let room = max(1, limit - told.count)
        let messages = try history.messages(
            of: receipts, at: shown.recorded.position, after: place, limit: room)
        for message in messages {
            let snapshot = try history.snapshot(of: message, at: shown.recorded.position)
            try add(topic, .message(snapshot), shown, as: name(shown, message.id.bytes))
        }
        return messages.count == room ? messages.last?.position : nil
    }

    // MARK: - One occurrence

    /// Tells the versions that know the topic and have asked for it.
    private mutating func add(
        _ topic: WebhookTopic, _ subject: WebhookEvent.Subject, _ shown: ResolvedEvent,
        in versions: Set<WebhookVersion> = Set(WebhookVersion.allCases), as id: EventID? = nil
    ) throws {
        let recorded = shown.recorded
        let hearing = versions.intersection(topic.versions).filter { version in
            wanted[version]?.contains(topic) == true
        }
        let actor = recorded.actor.flatMap(Sender.init)
        // Later versions are told alike, and 1.0 in its own way.
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
    /// The user or service that did something for itself; `nil` for the holder of a token.
    fileprivate init?(_ actor: EventActor) {
        switch actor {
        case .user(let user): self = .user(user)
        case .named(let name): self = .named(name)
        case .token: return nil
        }
    }
}
