public import Messaging
import SQL

// The rows are written here and not by the projection: they hold a secret, and the log, which many may read
// and which is kept for long, tells of webhooks without it (`ShownWebhook`). So they stay with the store.
extension MessagingStore {
    /// Registers a webhook; its target has still to be asked (webhooks §1.2).
    ///
    /// - Throws: `Rejection.full(.webhook)` for one more than an application may have.
    public func createWebhook(
        _ draft: Webhook.Draft, in application: Application.ID
    ) async throws -> Webhook {
        let id: Webhook.ID = environment.newID()
        return try await change(in: application) { recording in
            let transaction = recording.transaction
            guard try transaction.lockedWebhookCount(in: application) < Webhook.limit else {
                throw Rejection.full(.webhook, limit: Webhook.limit)
            }
            let webhook = draft.made(as: id, at: recording.now)
            try transaction.insert(webhook, in: application)
            try recording.record(.webhookCreated(ShownWebhook(webhook)))
            recording.webhooksChanged()
            return webhook
        }
    }

    /// A webhook.
    ///
    /// - Throws: `Rejection.notFound(.webhook)`.
    public func webhook(_ id: Webhook.ID, in application: Application.ID) async throws -> Webhook {
        let webhook = try await database.read { transaction in
            try transaction.webhook(id, in: application)
        }
        guard let webhook else { throw Rejection.notFound(.webhook) }
        return webhook
    }

    /// A page of webhooks, of whatever version, newest first.
    ///
    /// - Parameters:
    ///   - after: The item before the page; `nil` for the first page.
    ///   - limit: Most items, from one.
    /// - Throws: `Rejection.notFound(.webhook)` for an `after` that is none.
    public func webhooks(
        after: Webhook.ID? = nil, limit: Int, in application: Application.ID
    ) async throws -> Page<Webhook> {
        try await database.read { transaction in
            if let after, try transaction.webhook(after, in: application) == nil {
                throw Rejection.notFound(.webhook)
            }
            // Ids are time-ordered, and all are ours.
            let items = try transaction.rows(
                """
                SELECT \(raw: Webhook.columns) FROM webhooks
                WHERE application = \(application) AND id < \(after?.bytes ?? Self.afterAllIDs)
                ORDER BY id DESC LIMIT \(limit)
                """
            ) { row in try Webhook(row) }
            return Page(items: items, total: try transaction.webhookCount(in: application))
        }
    }

    /// Deletes a webhook and what waits to be sent to it.
    ///
    /// - Parameter demand: What its version must be (X4).
    /// - Throws: `Rejection.notFound(.webhook)`; `VersionMismatch<Webhook>`.
    public func deleteWebhook(
        _ id: Webhook.ID, if demand: VersionDemand = .any, in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            let transaction = recording.transaction
            let webhook = try transaction.lockedWebhook(id, in: application)
            try demand.check(webhook.version) { webhook }
            try transaction.execute(
                "DELETE FROM webhooks WHERE application = \(application) AND id = \(id)")
            try transaction.dropDeliveries(of: id, in: application)
            try recording.record(.webhookDeleted(ShownWebhook(webhook)))
            recording.webhooksChanged()
        }
    }
}
