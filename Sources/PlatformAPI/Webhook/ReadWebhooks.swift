import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /webhooks/{id}` (webhooks §1.2).
    func readWebhook() async throws -> Reply {
        let webhook = try await store.webhook(webhook(), in: application)
        return reading(webhook.version) { Reply(.ok, json(webhook)) }
    }

    /// `GET /webhooks` (webhooks §1.2), paged as all lists are, whatever their versions.
    func listWebhooks() async throws -> Reply {
        let page = try PageQuery<Webhook>(query) { text in
            IdentifierJSON.read(text, of: application)
        }
        let found = try await store.webhooks(after: page.after, limit: page.limit, in: application)
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for webhook in found.items.prefix(page.size) {
                WebhookJSON.write(ShownWebhook(webhook), links, into: &writer)
            }
        }
        return try listing(writer.finish(), of: found, size: page.size) { webhook in
            webhook.id.uuid
        }
    }
}
