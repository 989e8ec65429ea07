import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /webhooks/{id}/deliveries` (X6), paged as all lists are.
    func listDeliveries() async throws -> Reply {
        let id = try self.webhook()
        let page = try PageQuery<WebhookDelivery>(query) { text in
            IdentifierJSON.read(text, of: id, in: application)
        }
        var state: WebhookDelivery.State?
        if let text = query["state"] {
            guard let named = WebhookDelivery.State(rawValue: text) else {
                throw Rejection.invalid("state", .deliveryState)
            }
            state = named
        }
        let found = try await store.deliveries(
            of: id, in: state, after: page.after, limit: page.limit, of: application)
        let webhook = try await store.webhook(id, in: application)
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for delivery in found.items.prefix(page.size) {
                WebhookDeliveryJSON.write(
                    delivery, of: webhook, in: application, into: &writer)
            }
        }
        return try listing(writer.finish(), of: found, size: page.size) { delivery in
            delivery.id.uuid
        }
    }
}
