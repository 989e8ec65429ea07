public import Messaging
import SQL

/// A delivery to be created: an event as one webhook receives it.
public struct DeliveryDraft: Sendable {
    /// The webhook.
    public let webhook: Webhook.ID
    /// The id of the event.
    let event: EventID
    /// The name of the event in the webhook's version.
    let type: String
    /// Its position in the log; `nil` for a test.
    let position: LogPosition?
    /// The conversation within which deliveries are ordered; `nil` for an event without order.
    let conversation: Conversation.ID?
    /// The trace of the event; `nil` for none.
    var trace: Trace?
    /// The body of the request.
    let body: [UInt8]

    /// Creates a draft.
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
    /// The number among the deliveries of the webhook; within a lane, deliveries are sent in the order of numbers.
    public let number: Int64
    /// Its id.
    let id: WebhookDelivery.ID
    /// The id of the event.
    public let event: EventID
    /// The name of the event in the webhook's version.
    public let type: String
    /// The number of attempts so far.
    public let attempts: Int64
    /// When it was created, or its retry was requested; attempts are scheduled from there.
    public let askedAt: Timestamp
    /// The trace of the event; `nil` for none.
    public let trace: Trace?
    /// The body of the request.
    public let body: [UInt8]
}

/// The deliveries that a worker has to send to a webhook.
public struct DueDeliveries: Sendable {
    /// The webhook in the same snapshot as these deliveries; `nil` when it is not active, and nothing may be sent.
    public let webhook: Webhook?
    /// The previous secret, while requests are signed with it too; otherwise `nil`.
    public let former: FormerSecret?
    /// The due deliveries, as many as their size allows.
    public let items: [DueDelivery]
    /// Whether more may be due now.
    fileprivate let isCut: Bool
    /// When the next delivery is due; `nil` when more may be due now, or none is pending.
    public let nextAt: Timestamp?
}

// The queries and changes of the webhook log reader and its workers.
extension MessagingStore {
    /// How far the log of an application was turned into deliveries; `nil` before the first time.
    public func webhookCheckpoint(in application: Application.ID) async throws -> WebhookCheckpoint?
    {
        try await database.read { transaction in try transaction.webhookCheckpoint(in: application)
        }
    }

    /// Stores deliveries and the new checkpoint in one transaction.
    ///
    /// - Parameters:
    ///   - start: The checkpoint that the log was read from; `nil` for the first time.
    ///   - end: The checkpoint that the log was read to.
    ///   - webhooks: The result of ``webhookSubscriptions(in:)`` that the deliveries were made for.
    /// - Returns: False, and nothing is stored, when another process has moved the checkpoint, or the subscriptions
    ///   have changed.
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
            try transaction.deleteUnreadRanges(through: end.after, in: application)
            try transaction.add(
                drafts, at: environment.now(), in: application, newID: environment.newID)
            return true
        }
    }

    /// The deliveries that may be sent to a webhook now; none unless it is active.
    ///
    /// The webhook is read in the same snapshot, because its worker is notified of a change only after it was recorded.
    ///
    /// - Parameter taken: The numbers of deliveries that are being sent, which are left out.
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
            let found = try transaction.boundedPage(
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
    /// See ``MessagingStore/webhookCheckpoint(in:)``.
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
