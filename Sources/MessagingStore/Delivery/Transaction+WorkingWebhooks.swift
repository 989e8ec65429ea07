public import Messaging
import SQL

extension MessagingStore {
    /// The webhooks of an application that are sent what happens, in the order of their names.
    public func activeWebhooks(in application: Application.ID) async throws -> [Webhook] {
        try await database.read { transaction in
            try transaction.activeWebhooks(in: application)
        }
    }
}

extension Transaction {
    /// The webhooks of an application that are sent what happens, in the order of their names.
    func activeWebhooks(in application: Application.ID) throws -> [Webhook] {
        try rows(
            """
            SELECT \(raw: Webhook.columns) FROM webhooks
            WHERE application = \(application) AND status = 'active' ORDER BY id
            """
        ) { row in try Webhook(row) }
    }

    /// Deactivates a webhook in the midst of a mutation.
    ///
    /// - Returns: Whether it was active until now: of several answers that end it, one does.
    func deactivate(
        _ id: Webhook.ID, because reason: String, in application: Application.ID
    ) throws -> Bool {
        guard try webhook(id, in: application) != nil else { return false }
        let webhook = try lockedWebhook(id, in: application)
        guard case .active = webhook.status else { return false }
        try update(webhook.deactivating(because: reason), in: application)
        return true
    }

    /// A webhook that is there.
    ///
    /// - Throws: `Rejection.notFound(.webhook)`.
    func knownWebhook(_ id: Webhook.ID, in application: Application.ID) throws -> Webhook {
        guard let webhook = try webhook(id, in: application) else {
            throw Rejection.notFound(.webhook)
        }
        return webhook
    }
}
