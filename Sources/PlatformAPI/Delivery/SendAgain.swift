import HTTP
import JSON
import Messaging
import MessagingShapes
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /webhooks/{id}/deliveries/{delivery}/retry` (X6).
    func retryDelivery() async throws -> Reply {
        let webhook = try webhook()
        let delivery = try await store.retryDelivery(delivery(), of: webhook, in: application)
        return try await accepted(delivery, of: webhook)
    }

    /// `POST /webhooks/{id}/test` (X6).
    func testWebhook() async throws -> Reply {
        let webhook = try webhook()
        let delivery = try await store.testDelivery(
            DeliveryDraft.test, of: webhook, in: application)
        return try await accepted(delivery, of: webhook)
    }

    /// `POST /webhooks/{id}/replay` (X6).
    func replayWebhook(_ body: JSONValue) async throws -> Reply {
        let (after, before) = try WebhookReplayJSON.read(body.asObject())
        let replay = try await store.replay(
            after: after, before: before, to: webhook(), in: application)
        return Reply(
            .accepted,
            WebhookReplayJSON.answer(
                after: replay.place.after, through: max(replay.through, replay.place.after)))
    }

    /// `POST /webhooks/{id}/rotate_secret` (X6).
    func rotateSecret(_ body: JSONValue) async throws -> Reply {
        let (secret, keeping) = try WebhookSecretJSON.read(body.asObject())
        let webhook = try await store.rotateSecret(
            to: secret, keeping: keeping, of: webhook(), in: application)
        return Reply(.ok, json(webhook)).tagged(webhook.version)
    }

    private func accepted(
        _ delivery: WebhookDelivery, of webhook: Webhook.ID
    ) async throws -> Reply {
        let webhook = try await store.webhook(webhook, in: application)
        var writer = JSONWriter(capacity: 512)
        WebhookDeliveryJSON.write(delivery, of: webhook, in: application, into: &writer)
        return Reply(.accepted, writer.finish())
    }

    /// The delivery in the path; a malformed UUID names nothing (ruling 7).
    private func delivery() throws(Rejection) -> WebhookDelivery.ID {
        guard let id = parameters["delivery"].flatMap({ WebhookDelivery.ID(uuid: $0) }) else {
            throw .notFound(.delivery)
        }
        return id
    }
}
