public import Messaging
import SQL

extension MessagingStore {
    /// A page of what a webhook was and will be sent, newest first (X6).
    ///
    /// - Parameters:
    ///   - state: Only those that have come so far; `nil` for all.
    ///   - after: The item before the page; `nil` for the first page.
    ///   - limit: Most items, from one.
    /// - Throws: `Rejection.notFound(.webhook)`; `Rejection.notFound(.delivery)` for an `after` that is none.
    public func deliveries(
        of webhook: Webhook.ID, in state: WebhookDelivery.State?, after: WebhookDelivery.ID? = nil,
        limit: Int, of application: Application.ID
    ) async throws -> ListPage<WebhookDelivery> {
        try await database.read { transaction in
            _ = try transaction.knownWebhook(webhook, in: application)
            var before = Int64.max
            if let after {
                guard let found = try transaction.delivery(after, of: webhook, in: application)
                else { throw Rejection.notFound(.delivery) }
                before = found.number
            }
            let items = try transaction.rows(
                .deliveries(of: webhook, in: state, before: before, limit: limit, of: application)
            ) { row in try WebhookDelivery(row) }
            let total = try transaction.first(
                .deliveryCount(of: webhook, in: state, of: application)
            ) { row in try row.int64(0) }
            return ListPage(items: items, total: total ?? 0)
        }
    }

    /// Has a delivery tried now, wherever it stands; one that waits behind another goes on waiting.
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
            // What was over when its conversation was merged waits with those of the winner now.
            let conversation = found.delivery.conversation
            let winner = try conversation.flatMap { id in
                try transaction.winner(of: id, in: application)
            }
            let lane = winner?.bytes ?? found.lane
            // The first of a lane stays its first.
            let isFirst = found.delivery.nextAt != nil
            try transaction.execute(
                """
                UPDATE deliveries
                SET state = 'pending', attempts = 0, asked_at = \(now), finished_at = NULL,
                    lane = \(lane), next_at = \(isFirst ? now : nil)
                WHERE application = \(application) AND webhook = \(webhook)
                    AND number = \(found.number)
                """)
            try transaction.lead(lane, of: webhook, at: now, in: application)
            context.webhooksChanged()
            guard let retried = try transaction.delivery(id, of: webhook, in: application) else {
                throw StoreFault.unreadable("deliveries")
            }
            return retried.delivery
        }
    }

    /// Has something sent that has not happened, to see whether it arrives, once the webhook is active.
    ///
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
            context.webhooksChanged()
            guard let made = try transaction.delivery(id, of: webhook, in: application) else {
                throw StoreFault.unreadable("deliveries")
            }
            return made.delivery
        }
    }
}

/// What webhooks have not been sent.
public struct DeliveryBacklog: Equatable, Sendable {
    /// Deliveries that wait for their turn, or for another try.
    public var pending = 0
    /// Deliveries that were given up and are still kept.
    public var dead = 0

    /// Nothing.
    public init() {}
}

extension MessagingStore {
    /// What the webhooks there are have not been sent, of all applications.
    ///
    /// It is counted in an index: 100,000 of them take some milliseconds.
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
    /// How many deliveries are pending, and how many dead; a join would let SQLite read those that are over.
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
