public import JSON
public import Messaging

/// A delivery as answers show it (X6): what is sent and how far it has come, without the body.
public enum WebhookDeliveryJSON {
    /// Writes the object of a webhook's delivery.
    ///
    /// While the webhook is not active, what is pending waits and has no time: whoever asks for a test is told
    /// so, instead of looking for it at the receiver.
    public static func write(
        _ delivery: WebhookDelivery, of webhook: Webhook, in application: Application.ID,
        into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(delivery.id, of: webhook.id, in: application))
            writer.member("event_id", delivery.event.uuid)
            writer.member("event_type", delivery.type)
            writer.key("position")
            if let position = delivery.position {
                writer.integer(position.number)
            } else {
                writer.null()
            }
            writer.member(
                "conversation",
                delivery.conversation.map { IdentifierJSON.text($0, in: .conversations) })
            writer.member("state", delivery.state.rawValue)
            writer.member("webhook_status", WebhookJSON.text(webhook.status))
            writer.member("attempts", delivery.attempts)
            writer.member("created_at", TimestampJSON.text(delivery.createdAt))
            writer.member(
                "next_attempt_at", webhook.isActive ? delivery.nextAt.map(TimestampJSON.text) : nil)
            writer.member("finished_at", delivery.finishedAt.map(TimestampJSON.text))
            writer.key("last_status")
            if let status = delivery.answer?.status {
                writer.integer(status)
            } else {
                writer.null()
            }
            writer.member("last_failure", delivery.answer?.failure)
        }
    }
}

extension Webhook {
    fileprivate var isActive: Bool {
        if case .active = status { true } else { false }
    }
}
