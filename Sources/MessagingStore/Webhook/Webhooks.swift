public import Messaging
import SQL
import SystemSupport

/// A webhook with everything needed to send to it.
public struct WebhookTarget: Equatable, Sendable {
    /// The application of the webhook.
    public let application: Application.ID
    /// The webhook, with its secret.
    public var webhook: Webhook
    /// The previous secret, which also signs until it expires; read together with the due deliveries.
    public var former: FormerSecret?
}

// The rows of webhooks are written here and not by the projection: they contain secrets, which events must not contain,
// because every token can read the log (`WebhookSummary`).
extension MessagingStore {
    /// Creates a webhook; its target still has to be verified (webhooks §1.2).
    ///
    /// - Throws: `Rejection.full(.webhook)` when the application has the maximum number.
    public func createWebhook(
        _ draft: Webhook.Draft, in application: Application.ID
    ) async throws -> Webhook {
        let id: Webhook.ID = environment.newID()
        return try await change(in: application) { context in
            let transaction = context.transaction
            guard try transaction.lockedWebhookCount(in: application) < Webhook.limit else {
                throw Rejection.full(.webhook, limit: Webhook.limit)
            }
            let webhook = draft.makeWebhook(id: id, at: context.now)
            try transaction.insert(webhook, in: application)
            try context.record(.webhookCreated(WebhookCreated(webhook: WebhookSummary(webhook))))
            context.notifyWebhookWorkers()
            return webhook
        }
    }

    /// The webhook with an id, with its secret.
    ///
    /// - Throws: `Rejection.notFound(.webhook)`.
    public func webhook(_ id: Webhook.ID, in application: Application.ID) async throws -> Webhook {
        let webhook = try await database.read { transaction in
            try transaction.webhook(id, in: application)
        }
        guard let webhook else { throw Rejection.notFound(.webhook) }
        return webhook
    }

    /// A page of the webhooks of all versions, newest first.
    ///
    /// - Parameters:
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items, at least 1.
    ///   - isCounted: Whether the page has the total.
    /// - Throws: `Rejection.notFound(.webhook)` for an unknown `after`.
    public func webhooks(
        after: Webhook.ID? = nil, limit: Int, isCounted: Bool = true,
        in application: Application.ID
    ) async throws -> ListPage<Webhook> {
        try await database.read { transaction in
            if let after, try transaction.webhook(after, in: application) == nil {
                throw Rejection.notFound(.webhook)
            }
            // Ids are time-ordered, because all of them are created by this server.
            let items = try transaction.rows(
                """
                SELECT \(raw: Webhook.columns) FROM webhooks
                WHERE application = \(application) AND id < \(after?.bytes ?? Self.afterAllIDs)
                ORDER BY id DESC LIMIT \(limit)
                """
            ) { row in try Webhook(row) }
            return ListPage(
                items: items,
                total: isCounted ? try transaction.webhookCount(in: application) : nil)
        }
    }

    /// Deletes a webhook and its pending deliveries.
    ///
    /// - Parameter demand: The required version (X4).
    /// - Throws: `Rejection.notFound(.webhook)`; `VersionMismatch<Webhook>`.
    public func deleteWebhook(
        _ id: Webhook.ID, if demand: VersionPrecondition = .any, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            let transaction = context.transaction
            let webhook = try transaction.lockedWebhook(id, in: application)
            try demand.check(webhook.version) { webhook }
            try transaction.execute(
                "DELETE FROM webhooks WHERE application = \(application) AND id = \(id)")
            try transaction.deleteDeliveries(of: id, in: application)
            try context.record(.webhookDeleted(WebhookDeleted(webhook: WebhookSummary(webhook))))
            context.notifyWebhookWorkers()
        }
    }
}

// Changes of the status of webhooks (webhooks §1.3). Each loads the webhook, lets `Webhook` decide the new state, and
// writes and records it.
extension MessagingStore {
    /// Starts another verification of the target, unless the webhook is active (webhooks §1.2).
    ///
    /// - Throws: `Rejection.notFound(.webhook)`.
    public func activateWebhook(
        _ id: Webhook.ID, in application: Application.ID
    ) async throws -> Webhook {
        try await changeWebhook(id, in: application) { webhook, _ in webhook.activating() }
    }

    /// Stops deliveries to a webhook.
    ///
    /// - Parameter reason: The text for `status_reason`.
    /// - Throws: `Rejection.notFound(.webhook)`.
    public func deactivateWebhook(
        _ id: Webhook.ID, because reason: String = Webhook.deactivatedByUser,
        in application: Application.ID
    ) async throws -> Webhook {
        try await changeWebhook(id, in: application) { webhook, _ in
            webhook.deactivating(because: reason)
        }
    }

    /// Records the result of a verification, unless the webhook was changed or deleted meanwhile.
    ///
    /// - Parameters:
    ///   - verified: The webhook when its verification began.
    ///   - failure: Why it failed, for `status_reason`; `nil` when it succeeded.
    public func finishVerification(
        of verified: Webhook, failure: String?, in application: Application.ID
    ) async throws {
        do {
            _ = try await changeWebhook(verified.id, in: application) { webhook, end in
                webhook.verified(verified, failure: failure, endOfLog: end)
            }
        } catch Rejection.notFound {
            return
        }
    }

    private func changeWebhook(
        _ id: Webhook.ID, in application: Application.ID,
        _ decide: @escaping @Sendable (Webhook, _ endOfLog: LogPosition) -> Webhook
    ) async throws -> Webhook {
        try await change(in: application) { context in
            let transaction = context.transaction
            let before = try transaction.lockedWebhook(id, in: application)
            let after = decide(before, try transaction.endOfLog(in: application))
            if after != before { try context.update(after, from: before) }
            return after
        }
    }

    // MARK: - Work to do

    /// A page of the webhooks whose targets still have to be verified, of all applications, by application and id.
    ///
    /// - Parameters:
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items; a page with fewer is the last one.
    public func unverifiedWebhooks(
        after: WebhookTarget? = nil, limit: Int = 100
    ) async throws -> [WebhookTarget] {
        try await targets(
            """
            SELECT \(raw: Webhook.columns), application FROM webhooks
            WHERE status = 'unverified' AND (application, id)
                > (\(after?.application.bytes ?? []), \(after?.webhook.id.bytes ?? []))
            ORDER BY application, id LIMIT \(limit)
            """)
    }

    /// A page of the active webhooks of all applications; otherwise as ``unverifiedWebhooks(after:limit:)``.
    public func activeWebhooks(
        after: WebhookTarget? = nil, limit: Int = 100
    ) async throws -> [WebhookTarget] {
        try await targets(
            """
            SELECT \(raw: Webhook.columns), application FROM webhooks
            WHERE status = 'active' AND (application, id)
                > (\(after?.application.bytes ?? []), \(after?.webhook.id.bytes ?? []))
            ORDER BY application, id LIMIT \(limit)
            """)
    }

    private func targets(_ sql: SQL) async throws -> [WebhookTarget] {
        try await database.read { transaction in
            try transaction.rows(sql) { row in
                WebhookTarget(application: try row.id(11), webhook: try Webhook(row), former: nil)
            }
        }
    }
}

extension MutationContext {
    /// Notifies the webhook workers of this and other processes that there may be work.
    func notifyWebhookWorkers() {
        transaction.afterCommit { [webhookSignal] in webhookSignal.signal() }
        transaction.notify(StoreNotification.webhooks.subject, now.milliseconds)
    }

    /// Writes and records a changed webhook. If it was active, the range of the log that it still has to receive is
    /// stored.
    func update(_ webhook: Webhook, from before: Webhook) throws {
        if case .active(let since) = before.status {
            try transaction.storeUnreadRange(of: webhook.id, since: since, in: application)
        }
        try transaction.update(webhook, in: application)
        try record(.webhookUpdated(WebhookUpdated(webhook: WebhookSummary(webhook))))
        notifyWebhookWorkers()
    }

    /// Deactivates a webhook within a mutation.
    ///
    /// - Returns: Whether it was active before. So of several failures only one reports the deactivation.
    func deactivate(_ id: Webhook.ID, because reason: String) throws -> Bool {
        guard try transaction.webhook(id, in: application) != nil else { return false }
        let webhook = try transaction.lockedWebhook(id, in: application)
        guard case .active = webhook.status else { return false }
        try update(webhook.deactivating(because: reason), from: webhook)
        return true
    }
}
