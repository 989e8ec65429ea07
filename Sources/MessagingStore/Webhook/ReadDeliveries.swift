public import Messaging
import SQL

extension MessagingStore {
    /// A page of the deliveries of a webhook, newest first (X6).
    ///
    /// - Parameters:
    ///   - state: Only deliveries in this state; `nil` for all.
    ///   - last: Only deliveries that were created after this one; `nil` for all.
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items, at least 1.
    ///   - isCounted: Whether the page has the total.
    ///   - withLogs: Whether the deliveries have their logs.
    /// - Throws: `Rejection.notFound(.webhook)`; `Rejection.notFound(.delivery)` for an unknown `after`.
    public func deliveries(
        of webhook: Webhook.ID, in state: WebhookDelivery.State?,
        newerThan last: WebhookDelivery.ID? = nil, after: WebhookDelivery.ID? = nil, limit: Int,
        isCounted: Bool = true, withLogs: Bool = false, of application: Application.ID
    ) async throws -> ListPage<WebhookDelivery> {
        try await database.read { transaction in
            _ = try transaction.knownWebhook(webhook, in: application)
            func number(_ id: WebhookDelivery.ID) throws -> Int64 {
                guard let found = try transaction.delivery(id, of: webhook, in: application)
                else { throw Rejection.notFound(.delivery) }
                return found.number
            }
            let items = try transaction.rows(
                .deliveries(
                    of: webhook, in: state, after: try last.map(number) ?? 0,
                    before: try after.map(number) ?? .max, limit: limit, withLogs: withLogs,
                    of: application)
            ) { row in
                var delivery = try WebhookDelivery(row)
                if withLogs { delivery.log = try WebhookDelivery.Log(row, 12) }
                return delivery
            }
            guard isCounted else { return ListPage(items: items, total: nil) }
            let total = try transaction.first(
                .deliveryCount(of: webhook, in: state, of: application)
            ) { row in try row.int64(0) }
            return ListPage(items: items, total: total ?? 0)
        }
    }

    /// A delivery with its log and its body.
    ///
    /// - Throws: `Rejection.notFound` of the webhook or the delivery.
    public func delivery(
        _ id: WebhookDelivery.ID, of webhook: Webhook.ID, in application: Application.ID
    ) async throws -> (delivery: WebhookDelivery, body: [UInt8]) {
        try await database.read { transaction in
            _ = try transaction.knownWebhook(webhook, in: application)
            let body = try transaction.first(
                """
                SELECT body FROM deliveries
                WHERE application = \(application) AND id = \(id) AND webhook = \(webhook)
                """
            ) { row in try row.blob(0) }
            guard let body,
                let found = try transaction.delivery(id, of: webhook, in: application)
            else { throw Rejection.notFound(.delivery) }
            return (found.delivery, body)
        }
    }

    /// Makes a delivery pending again, whatever its state, with no attempts so far. It is sent now, unless another
    /// delivery is the first of its lane; then it waits for that one.
    ///
    /// - Throws: `Rejection.notFound` of the webhook or the delivery.
    public func retryDelivery(
        _ id: WebhookDelivery.ID, of webhook: Webhook.ID, in application: Application.ID
    ) async throws -> WebhookDelivery {
        try await change(in: application) { context in
            let (transaction, now) = (context.transaction, context.now)
            _ = try transaction.knownWebhook(webhook, in: application)
            guard let found = try transaction.delivery(id, of: webhook, in: application) else {
                throw Rejection.notFound(.delivery)
            }
            // A merge moves only pending deliveries to the lane of the winner; this one may have ended before.
            let conversation = found.delivery.conversation
            let winner = try conversation.flatMap { id in
                try transaction.winner(of: id, in: application)
            }
            let lane = winner?.bytes ?? found.lane
            // If it is the first of its lane, it stays the first.
            let isFirst = found.delivery.nextAt != nil
            try transaction.execute(
                """
                UPDATE deliveries
                SET state = 'pending', attempts = 0, asked_at = \(now), finished_at = NULL,
                    lane = \(lane), next_at = \(isFirst ? now : nil)
                WHERE application = \(application) AND webhook = \(webhook)
                    AND number = \(found.number)
                """)
            try transaction.promoteNext(lane, of: webhook, at: now, in: application)
            context.notifyWebhookWorkers()
            guard let retried = try transaction.delivery(id, of: webhook, in: application) else {
                throw StoreFault.unreadable("deliveries")
            }
            return retried.delivery
        }
    }

    /// Enqueues a test delivery, which is sent once the webhook is active.
    ///
    /// - Parameter make: Makes the delivery from the webhook, the id of a new event, and the time.
    /// - Throws: `Rejection.notFound(.webhook)`.
    public func testDelivery(
        _ make: @escaping @Sendable (Webhook, EventID, Timestamp) -> DeliveryDraft,
        of webhook: Webhook.ID, in application: Application.ID
    ) async throws -> WebhookDelivery {
        let (id, event): (WebhookDelivery.ID, EventID) = (
            environment.newID(), environment.newID()
        )
        return try await change(in: application) { context in
            let transaction = context.transaction
            let found = try transaction.knownWebhook(webhook, in: application)
            var draft = make(found, event, context.now)
            draft.trace = context.trace
            try transaction.add([draft], at: context.now, in: application) { id }
            context.notifyWebhookWorkers()
            guard let made = try transaction.delivery(id, of: webhook, in: application) else {
                throw StoreFault.unreadable("deliveries")
            }
            return made.delivery
        }
    }
}

/// The numbers of deliveries that were not accepted by their receivers.
public struct DeliveryBacklog: Equatable, Sendable {
    /// Deliveries that are still to be sent, for the first time or again.
    public var pending = 0
    /// Dead deliveries that are still stored.
    public var dead = 0

    /// Creates an empty backlog.
    public init() {}
}

extension MessagingStore {
    /// The backlog of all existing webhooks.
    ///
    /// It is counted in an index: 100,000 deliveries take some milliseconds.
    public func deliveryBacklog() async throws -> DeliveryBacklog {
        try await database.read { transaction in
            try transaction.first(.deliveryBacklog) { row in
                var backlog = DeliveryBacklog()
                backlog.pending = Int(try row.int64(0))
                backlog.dead = Int(try row.int64(1))
                return backlog
            } ?? DeliveryBacklog()
        }
    }
}

extension SQL {
    /// The numbers of pending and dead deliveries of existing webhooks. They are counted by subqueries, because with a
    /// join SQLite would also read delivered ones.
    static var deliveryBacklog: SQL {
        """
        SELECT CAST(COALESCE(SUM((\(count("pending")))), 0) AS BIGINT),
            CAST(COALESCE(SUM((\(count("dead")))), 0) AS BIGINT)
        FROM webhooks w
        """
    }

    private static func count(_ state: StaticString) -> SQL {
        """
        SELECT COUNT(*) FROM deliveries d
        WHERE d.application = w.application AND d.webhook = w.id AND d.state = '\(raw: state)'
        """
    }
}
