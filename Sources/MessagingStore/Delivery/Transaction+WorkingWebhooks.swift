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
