import HTTP
import Messaging
import MessagingStore

extension Call {
    /// `POST /webhooks/{id}/activate` (webhooks §1.2): its target is asked once more.
    func activateWebhook() async throws -> Reply {
        let webhook = try await store.activateWebhook(webhook(), in: application)
        return Reply(.ok, json(webhook)).tagged(webhook.version)
    }

    /// `POST /webhooks/{id}/deactivate` (webhooks §1.2).
    func deactivateWebhook() async throws -> Reply {
        let webhook = try await store.deactivateWebhook(webhook(), in: application)
        return Reply(.ok, json(webhook)).tagged(webhook.version)
    }

    /// `DELETE /webhooks/{id}` (webhooks §1.2).
    func deleteWebhook() async throws -> Reply {
        try await demanding { (webhook: Webhook) in
            json(webhook)
        } change: { demand in
            try await store.deleteWebhook(webhook(), if: demand, in: application)
        }
        return .noContent
    }
}
