public import Messaging
public import MessagingStore
internal import MessagingWire

extension DeliveryDraft {
    /// What a webhook is sent to see whether it arrives (X6).
    public static func test(
        _ webhook: Webhook, _ event: Occurrence.ID, at moment: Timestamp
    ) -> DeliveryDraft {
        DeliveryDraft(
            webhook: webhook.id, event: event, type: WebhookTestJSON.type, position: nil,
            conversation: nil, body: WebhookTestJSON.body(event, at: moment, to: webhook))
    }
}
