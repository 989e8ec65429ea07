import Messaging
import SQL

/// Builds the webhook events of recorded events, with objects in their state right after each event (rulings
/// 27).
struct WebhookEventBuilder {
    private let transaction: Transaction
    private let application: Application.ID
    private let hash: @Sendable ([UInt8]) -> [UInt8]
    /// The topics that receivers of each version subscribe to.
    private let wanted: [WebhookVersion: Set<WebhookTopic>]
    /// The approximate maximum number of webhook events. Those of one recorded event are not separated, except those of a
    /// receipt.
    private let limit: Int

    /// The earliest event that webhook events are built from.
    private let first: LogPosition
    /// The objects in their state right after each event.
    var history: ObjectHistory

    /// The webhook events built so far.
    private(set) var events: [WebhookEvent] = []

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
    /// - Parameter begun: The last message of the first event for which webhook events were already built; `.start` for
    ///   none.
    /// - Returns: The checkpoint where it stopped because of the limit or the size; `nil` when all are built.
    mutating func build(_ recordedEvents: [RecordedEvent], within begun: Position) throws
        -> WebhookCheckpoint?
    {
        var resolver = EventResolver(transaction, from: first, in: application, hash: hash)
        let all = try resolver.resolve(recordedEvents)
        history = resolver.history
        var within = begun
        for resolved in all {
            let recorded = resolved.recorded
            let before = LogPosition(recorded.position.number - 1)
            guard events.count < limit else { return WebhookCheckpoint(after: before) }
            // If the event was begun, only webhook events of version 1.0 are missing.
            if within == .start {
                try recorded.event.stored.addWebhookEvents(of: resolved, to: &self)
            }
            if case .receiptsRecorded(let receipts) = recorded.event,
                let last = try buildEach(of: receipts, after: within, resolved)
            {
                return WebhookCheckpoint(after: before, within: last)
            }
            within = .start
        }
        guard all.count < recordedEvents.count, let last = all.last else { return nil }
        return WebhookCheckpoint(after: last.recorded.position)
    }

    /// Builds the webhook events of a receipt for version 1.0, one for each message.
    ///
    /// - Returns: The position of the last message, when the limit was reached; otherwise `nil`.
    private mutating func buildEach(
        of receipts: ReceiptsRecorded, after last: Position, _ resolved: ResolvedEvent
    ) throws -> Position? {
        let topic: WebhookTopic = receipts.kind == .read ? .messageRead : .messageDelivered
        guard wanted[.v1_0]?.contains(topic) == true else { return nil }
        // At least one, so that building an event always makes progress.
        let remaining = max(1, limit - events.count)
        let messages = try history.messages(
            of: receipts, at: resolved.recorded.position, after: last, limit: remaining)
        for message in messages {
            let snapshot = try history.snapshot(of: message, at: resolved.recorded.position)
            try add(topic, .message(snapshot), resolved, as: id(of: resolved, message.id.bytes))
        }
        return messages.count == remaining ? messages.last?.position : nil
    }

    // MARK: - One webhook event

    /// Adds a webhook event for those versions that have the topic and whose receivers subscribe to it.
    mutating func add(
        _ topic: WebhookTopic, _ subject: WebhookEvent.Subject, _ resolved: ResolvedEvent,
        in versions: Set<WebhookVersion> = Set(WebhookVersion.allCases), as id: EventID? = nil
    ) throws {
        let recorded = resolved.recorded
        let wanting = versions.intersection(topic.versions).filter { version in
            wanted[version]?.contains(topic) == true
        }
        let actor = recorded.actor.flatMap(Sender.init)
        // Version 1.0 has its own representation; the later versions share one.
        for versions in [wanting.intersection([.v1_0]), wanting.subtracting([.v1_0])]
        where !versions.isEmpty {
            events.append(
                WebhookEvent(
                    versions: versions, position: recorded.position, id: id ?? resolved.id,
                    topic: topic, at: recorded.at, actor: actor,
                    actorIdentity: try actor?.userID.map { user in
                        try history.identity(of: user, at: recorded.position)
                    },
                    trace: recorded.trace, subject: subject))
        }
    }

    /// The id of one of several webhook events of an event.
    ///
    /// - Parameter part: Distinguishes it from the other webhook events of the event.
    func id(of resolved: ResolvedEvent, _ part: [UInt8]) -> EventID {
        .naming(resolved.recorded, part, in: application, by: hash)
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
