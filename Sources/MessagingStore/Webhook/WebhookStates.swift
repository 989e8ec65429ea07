public import Messaging
import SQL

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
        try await change(in: application) { recording in
            let transaction = recording.transaction
            let before = try transaction.lockedWebhook(id, in: application)
            let after = decide(before, try transaction.endOfLog(in: application))
            if after != before { try recording.update(after, from: before) }
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
