import Messaging
import SQL

/// Finds what receivers hear of events, a few statements for many of them.
struct EventTeller {
    let transaction: Transaction
    let application: Application.ID
    let hash: @Sendable ([UInt8]) -> [UInt8]
    /// What receivers of each version have asked for.
    let wanted: [WebhookVersion: Set<Topic>]
    /// About how many things to tell: an event that is several is told whole, but for receipts.
    let limit: Int

    /// What has been told so far.
    private(set) var told: [ToldEvent] = []

    init(
        transaction: Transaction, application: Application.ID,
        hash: @escaping @Sendable ([UInt8]) -> [UInt8], wanted: [WebhookVersion: Set<Topic>],
        limit: Int
    ) {
        self.transaction = transaction
        self.application = application
        self.hash = hash
        self.wanted = wanted
        self.limit = limit
    }

    /// Tells of events in their order.
    ///
    /// - Parameter place: How far the first of them is told of.
    /// - Returns: Where it stopped, being full; `nil` when all is told.
    mutating func tell(_ events: [RecordedEvent], within place: Position) throws -> TellingPlace? {
        let shower = EventShower(transaction: transaction, application: application, hash: hash)
        let shown = try shower.shown(events)
        let identities = try identities(of: events)
        var within = place
        for (recorded, shown) in zip(events, shown) {
            let before = LogPosition(recorded.position.number - 1)
            guard told.count < limit else { return TellingPlace(after: before) }
            guard let event = recorded.event.tellable else { continue }
            var telling = Telling(recorded: recorded, shown: shown, identities: identities)
            // What was begun is told to later versions already.
            if within == .start { try tellOnce(event, &telling) }
            if case .receiptsRecorded(let receipts) = event,
                let last = try tellEach(of: receipts, after: within, telling)
            {
                return TellingPlace(after: before, within: last)
            }
            within = .start
        }
        return nil
    }

    /// Everything but the receipts of 1.0.
    private mutating func tellOnce(_ event: TellableEvent, _ telling: inout Telling) throws {
        switch event {
        case .messageSent(let sent):
            guard case .message(let snapshot) = telling.shown.object else { return }
            // Of all that is told only this has a name given outside (webhooks §4.1).
            add(
                .messageSent, .message(snapshot), telling, in: [.v2_0, .v3_0],
                as: Occurrence.ID(sent.message.id))
            add(
                .messageSent, .message(snapshot), telling, in: [.v1_0],
                as: name(telling, sent.message.id.bytes))
        case .receiptsRecorded(let receipts): try tell(receipts, telling)
        case .partsChanged(let change): tell(change, telling)
        case .messageDeleted(let id, let conversation):
            add(.messageDeleted, .deletedMessage(id, in: conversation), telling)
        case .messageRemoved(let removed):
            add(.messageDeleted, .message(try snapshot(of: removed, telling)), telling)
        case .conversationCreated(let conversation):
            guard let found = try self.conversation(conversation.id, nil, telling) else { return }
            add(.conversationCreated, .conversation(found), telling)
        case .metadataChanged(let id):
            guard let found = try conversation(id, nil, telling) else { return }
            add(.metadataChanged, .conversation(found), telling)
        case .conversationMerged(let merge):
            guard let found = try conversation(merge.winner, nil, telling) else { return }
            add(.conversationMerged, .merged(found, aliases: merge.aliases), telling)
            // Who knows no merging hears of what came of it. Without writes there never was any metadata.
            guard merge.loser != nil, merge.metadata.latestWrite != nil else { return }
            add(
                .metadataChanged, .conversation(found), telling,
                as: name(telling, Array(Topic.metadataChanged.rawValue.utf8)))
        case .participantsChanged(let change): try tell(change, telling)
        case .conversationDeleted(let id):
            guard let last = try transaction.lastConversation(id, in: application) else { return }
            add(
                .conversationDeleted,
                .conversation(try transaction.snapshot(of: last, in: application)), telling)
        case .conversationRemoved(let conversation):
            add(
                .conversationDeleted,
                .conversation(try transaction.snapshot(of: conversation, in: application)), telling)
        }
    }

    /// Tells later versions of a range: whatever lies within it he had read, or received, before.
    ///
    /// Merging may have put others between them since, so that they are several ranges now (X1.3).
    private mutating func tell(_ receipts: ReceiptsRecorded, _ telling: Telling) throws {
        let standing = try transaction.standing(
            receipts.positions, of: receipts.conversation, since: telling.recorded.position,
            in: application)
        let intervals = standing.positions.intervals
        guard let first = intervals.first?.lowerBound, let last = intervals.last?.upperBound else {
            return
        }
        guard standing.conversation == receipts.conversation,
            standing.positions == receipts.positions
        else {
            for range in intervals {
                add(
                    .receiptCreated,
                    .receipt(receipts.kind, range, in: standing.conversation), telling,
                    as: name(telling, Array("\(range)".utf8)))
            }
            return
        }
        add(
            .receiptCreated, .receipt(receipts.kind, first...last, in: receipts.conversation),
            telling)
    }

    private mutating func tell(_ change: ParticipantsChanged, _ telling: Telling) throws {
        guard
            let snapshot = try conversation(change.conversation, change.participants, telling)
        else { return }
        add(.participantsChanged, .conversation(snapshot), telling)
        for (topic, users) in [
            (Topic.participationCreated, change.added), (.participationDeleted, change.removed),
        ] where !users.isEmpty {
            let changes = users.map(telling.identities.identity)
            add(
                topic, .participation(snapshot, changes: changes), telling,
                as: name(telling, Array(topic.rawValue.utf8)))
        }
    }

    private mutating func tell(_ change: PartsChanged, _ telling: Telling) {
        var conversation = change.conversation
        if case .message(let snapshot) = telling.shown.object {
            conversation = snapshot.message.conversation
            add(.messageUpdated, .message(snapshot), telling)
        }
        for (topic, parts) in [
            (Topic.partCreated, change.created), (.partUpdated, change.updated),
        ] {
            for part in parts {
                add(
                    topic, .part(part, of: change.message, in: conversation), telling,
                    as: name(telling, part.id.bytes))
            }
        }
        for part in change.removed {
            add(
                .partDeleted,
                .deletedPart(part, of: change.message, in: conversation), telling,
                as: name(telling, part.id.bytes))
        }
    }

    /// Tells 1.0 of each message a receipt is for.
    ///
    /// - Returns: The last one told of, when there was no room for more.
    private mutating func tellEach(
        of receipts: ReceiptsRecorded, after place: Position, _ telling: Telling
    ) throws -> Position? {
        let topic: Topic = receipts.kind == .read ? .messageRead : .messageDelivered
        guard wanted[.v1_0]?.contains(topic) == true else { return nil }
        // One at least: what the event was told as before must not be told again.
        let room = max(1, limit - told.count)
        let messages = try transaction.messages(
            of: receipts, recordedAt: telling.recorded.position, after: place, limit: room,
            in: application)
        for snapshot in try transaction.snapshots(of: messages, in: application) {
            add(
                topic, .message(snapshot), telling, as: name(telling, snapshot.message.id.bytes))
        }
        return messages.count == room ? messages.last?.position : nil
    }

    // MARK: - One occurrence

    /// Tells the versions that know the topic and have asked for it.
    private mutating func add(
        _ topic: Topic, _ subject: ToldEvent.Subject, _ telling: Telling,
        in versions: Set<WebhookVersion> = Set(WebhookVersion.allCases), as id: Occurrence.ID? = nil
    ) {
        let hearing = versions.intersection(topic.versions).filter { version in
            wanted[version]?.contains(topic) == true
        }
        let actor = telling.recorded.actor.flatMap(Sender.init)
        // Later versions are told alike, and 1.0 in its own way.
        for versions in [hearing.intersection([.v1_0]), hearing.subtracting([.v1_0])]
        where !versions.isEmpty {
            told.append(
                ToldEvent(
                    versions: versions, position: telling.recorded.position,
                    occurrence: Occurrence(
                        id: id ?? telling.shown.id, topic: topic, at: telling.recorded.at,
                        actor: actor),
                    trace: telling.recorded.trace, actor: actor.flatMap(telling.identity),
                    subject: subject))
        }
    }

    private func name(_ telling: Telling, _ part: [UInt8]) -> Occurrence.ID {
        .naming(telling.recorded, part, in: application, by: hash)
    }
}
