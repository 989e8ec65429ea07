public import Messaging
import SQL

/// A delivery to be made: an occurrence as one webhook is told of it.
public struct DeliveryDraft: Sendable {
    /// Whom it is for.
    public let webhook: Webhook.ID
    /// Names the occurrence.
    public let event: EventID
    /// What the webhook's version calls it.
    public let type: String
    /// Where it stands in the log; `nil` for a test.
    public let position: LogPosition?
    /// Within what it is sent in order; `nil` for what has no order.
    public let conversation: Conversation.ID?
    /// In which trace it is told; `nil` for none.
    public var trace: Trace?
    /// What is sent.
    public let body: [UInt8]

    /// A delivery to be made.
    public init(
        webhook: Webhook.ID, event: EventID, type: String, position: LogPosition?,
        conversation: Conversation.ID?, trace: Trace? = nil, body: [UInt8]
    ) {
        self.webhook = webhook
        self.event = event
        self.type = type
        self.position = position
        self.conversation = conversation
        self.trace = trace
        self.body = body
    }
}

/// A delivery that may be sent now: the first of its lane.
public struct DueDelivery: Equatable, Sendable {
    /// Counts the deliveries of a webhook; a later one is never sent before an earlier one of its lane.
    public let number: Int64
    /// Its name.
    public let id: WebhookDelivery.ID
    /// Names the occurrence.
    public let event: EventID
    /// What the webhook's version calls it.
    public let type: String
    /// How often it was tried so far.
    public let attempts: Int64
    /// When it was made, or asked for again.
    public let askedAt: Timestamp
    /// In which trace it is told; `nil` for none.
    public let trace: Trace?
    /// What is sent.
    public let body: [UInt8]
}

/// What a sender has to do for a webhook.
public struct DueDeliveries: Sendable {
    /// The webhook as it was when these were due; `nil` when it is to be sent nothing.
    public let webhook: Webhook?
    /// What signs beside its secret.
    public let former: FormerSecret?
    /// What may be sent now, as many as the memory can hold.
    public let items: [DueDelivery]
    /// Whether there may be more.
    public let isCut: Bool
    /// When the next one is due that is not yet; `nil` where more are due now, or none waits.
    public let nextAt: Timestamp?
}

// What the one who reads the log for webhooks asks and tells.
extension MessagingStore {
    /// How far the log of an application was read for its webhooks; `nil` before anybody did.
    public func webhookCheckpoint(in application: Application.ID) async throws -> WebhookCheckpoint?
    {
        try await database.read { transaction in try transaction.webhookCheckpoint(in: application)
        }
    }

    /// Remembers deliveries together with how far the log was read for them: both or neither.
    ///
    /// - Parameters:
    ///   - start: Where the reading began; `nil` where nobody had read.
    ///   - webhooks: For whom was read, as ``webhookSubscriptions(in:)`` had them.
    /// - Returns: False, and nothing is remembered, when somebody else has read on, or when another
    ///   webhook, or another stretch, is to be told by now.
    public func enqueue(
        _ drafts: [DeliveryDraft], from start: WebhookCheckpoint?, to end: WebhookCheckpoint,
        for webhooks: [WebhookSubscription], in application: Application.ID
    ) async throws -> Bool {
        try await database.write { [environment] transaction in
            guard try transaction.webhookCheckpoint(in: application) == start,
                try transaction.webhookSubscriptions(in: application) == webhooks
            else { return false }
            try transaction.execute(
                """
                INSERT INTO webhook_readers (application, after_position, within_position)
                VALUES (\(application), \(end.after), \(end.within))
                ON CONFLICT (application) DO UPDATE
                SET after_position = excluded.after_position,
                    within_position = excluded.within_position
                """)
            try transaction.dropStretches(through: end.after, in: application)
            try transaction.add(
                drafts, at: environment.now(), in: application, newID: environment.newID)
            return true
        }
    }

    /// What may be sent to a webhook now: nothing unless it is active, and signed as it is now. Who sends
    /// hears of changes later than of what was recorded behind them.
    ///
    /// - Parameter taken: Numbers of those that are being sent.
    public func dueDeliveries(
        of webhook: Webhook.ID, besides taken: [Int64], limit: Int, in application: Application.ID
    ) async throws -> DueDeliveries {
        let now = environment.now()
        return try await database.read { transaction in
            guard let known = try transaction.webhook(webhook, in: application),
                case .active = known.status
            else {
                return DueDeliveries(
                    webhook: nil, former: nil, items: [], isCut: false, nextAt: nil)
            }
            let found = try transaction.stretch(
                .dueDeliveries(of: webhook, besides: taken, at: now, limit: limit, in: application)
            ) { row in
                Int64(try row.blob(7).count)
            } _: { row in
                DueDelivery(
                    number: try row.int64(0), id: try row.id(1), event: try row.id(2),
                    type: try row.text(3), attempts: try row.int64(4),
                    askedAt: try row.timestamp(5), trace: try row.optionalTrace(6),
                    body: try row.blob(7))
            }
            let isCut = found.isCut || found.items.count == limit
            return DueDeliveries(
                webhook: known,
                former: try transaction.formerSecret(of: webhook, at: now, in: application),
                items: found.items, isCut: isCut,
                nextAt: isCut
                    ? nil : try transaction.nextDelivery(of: webhook, after: now, in: application))
        }
    }
}

extension Transaction {
    /// The same as ``MessagingStore/webhookCheckpoint(in:)``.
    func webhookCheckpoint(in application: Application.ID) throws -> WebhookCheckpoint? {
        try first(
            """
            SELECT after_position, within_position FROM webhook_readers
            WHERE application = \(application)
            """
        ) { row in
            WebhookCheckpoint(after: LogPosition(try row.int64(0)), within: try row.position(1))
        }
    }

    fileprivate func nextDelivery(
        of webhook: Webhook.ID, after now: Timestamp, in application: Application.ID
    ) throws -> Timestamp? {
        try first(.nextDelivery(of: webhook, after: now, in: application)) { row in
            try row.timestamp(0)
        }
    }
}
