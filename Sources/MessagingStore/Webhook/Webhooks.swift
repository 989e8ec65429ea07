public import Messaging
import SQL
import SystemSupport

/// A webhook, and whose it is.
public struct OwnedWebhook: Equatable, Sendable {
    /// Whose it is.
    public let application: Application.ID
    /// The webhook.
    public let webhook: Webhook
}

// The rows are written here and not by the projection: they hold a secret, and the log, which many may read
// and which is kept for long, tells of webhooks without it (`WebhookSummary`). So they stay with the store.
extension MessagingStore {
    /// Registers a webhook; its target has still to be asked (webhooks §1.2).
    ///
    /// - Throws: `Rejection.full(.webhook)` for one more than an application may have.
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
            try context.record(.webhookCreated(WebhookSummary(webhook)))
            context.webhooksChanged()
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
    ) async throws -> ListPage<Webhook> {
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
            return ListPage(items: items, total: try transaction.webhookCount(in: application))
        }
    }

    /// Deletes a webhook and what waits to be sent to it.
    ///
    /// - Parameter demand: What its version must be (X4).
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
            try transaction.dropDeliveries(of: id, in: application)
            try context.record(.webhookDeleted(WebhookSummary(webhook)))
            context.webhooksChanged()
        }
    }
}

// The life of a webhook (webhooks §1.3): each step loads it, lets it decide, and writes and
// records what came of it.
extension MessagingStore {
    /// Has its target asked once more, unless it is active (webhooks §1.2).
    ///
    /// - Throws: `Rejection.notFound(.webhook)`.
    public func activateWebhook(
        _ id: Webhook.ID, in application: Application.ID
    ) async throws -> Webhook {
        try await changeWebhook(id, in: application) { webhook, _ in webhook.activating() }
    }

    /// Sends it nothing any more.
    ///
    /// - Parameter reason: In words, for `status_reason`.
    /// - Throws: `Rejection.notFound(.webhook)`.
    public func deactivateWebhook(
        _ id: Webhook.ID, because reason: String = Webhook.deactivatedByUser,
        in application: Application.ID
    ) async throws -> Webhook {
        try await changeWebhook(id, in: application) { webhook, _ in
            webhook.deactivating(because: reason)
        }
    }

    /// Takes what came of asking a target; nothing when it was decided otherwise meanwhile, or the
    /// webhook is gone.
    ///
    /// - Parameters:
    ///   - asked: The webhook as it was when its target was asked.
    ///   - failure: Why it failed, for `status_reason`; `nil` when the target wants what it is sent.
    public func finishVerification(
        of asked: Webhook, failure: String?, in application: Application.ID
    ) async throws {
        do {
            _ = try await changeWebhook(asked.id, in: application) { webhook, end in
                webhook.verified(asked, failure: failure, endOfLog: end)
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

    // MARK: - What there is to do

    /// Webhooks whose targets have still to be asked, of all applications, in the order of their
    /// names.
    ///
    /// - Parameters:
    ///   - after: The last one of the stretch before; `nil` for the first stretch.
    ///   - limit: Most to return; fewer mean that there are no more.
    public func unverifiedWebhooks(
        after: OwnedWebhook? = nil, limit: Int = 100
    ) async throws -> [OwnedWebhook] {
        try await owned(
            """
            SELECT \(raw: Webhook.columns), application FROM webhooks
            WHERE status = 'unverified' AND (application, id)
                > (\(after?.application.bytes ?? []), \(after?.webhook.id.bytes ?? []))
            ORDER BY application, id LIMIT \(limit)
            """)
    }

    /// Webhooks that are sent what happens, of all applications; stretches as of
    /// ``unverifiedWebhooks(after:limit:)``.
    public func activeWebhooks(
        after: OwnedWebhook? = nil, limit: Int = 100
    ) async throws -> [OwnedWebhook] {
        try await owned(
            """
            SELECT \(raw: Webhook.columns), application FROM webhooks
            WHERE status = 'active' AND (application, id)
                > (\(after?.application.bytes ?? []), \(after?.webhook.id.bytes ?? []))
            ORDER BY application, id LIMIT \(limit)
            """)
    }

    private func owned(_ sql: SQL) async throws -> [OwnedWebhook] {
        try await database.read { transaction in
            try transaction.rows(sql) { row in
                OwnedWebhook(application: try row.id(11), webhook: try Webhook(row))
            }
        }
    }
}

extension MutationContext {
    /// Tells those who send to webhooks, here and in other processes, that there may be something to do.
    func webhooksChanged() {
        transaction.afterCommit { [webhookSignal] in webhookSignal.signal() }
        transaction.notify(StoreNotification.webhooks.subject, now.milliseconds)
    }

    /// Writes how a webhook that has changed stands, and tells of it; what it has still to be told of is kept.
    func update(_ webhook: Webhook, from before: Webhook) throws {
        if case .active(let since) = before.status {
            try transaction.keepUnread(of: webhook.id, since: since, in: application)
        }
        try transaction.update(webhook, in: application)
        try record(.webhookUpdated(WebhookSummary(webhook)))
        webhooksChanged()
    }

    /// Deactivates a webhook in the midst of a mutation.
    ///
    /// - Returns: Whether it was active until now: of several answers that end it, one does.
    func deactivate(_ id: Webhook.ID, because reason: String) throws -> Bool {
        guard try transaction.webhook(id, in: application) != nil else { return false }
        let webhook = try transaction.lockedWebhook(id, in: application)
        guard case .active = webhook.status else { return false }
        try update(webhook.deactivating(because: reason), from: webhook)
        return true
    }
}
