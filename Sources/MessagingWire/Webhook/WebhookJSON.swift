public import JSON
public import Messaging

/// A webhook as answers show it: never with its secret (webhooks §1.1).
public enum WebhookJSON {
    /// Writes the object.
    public static func write(
        _ webhook: ShownWebhook, _ links: LinkBuilder, into writer: inout JSONWriter
    ) {
        writer.object { writer in writeMembers(webhook, links, into: &writer) }
    }

    /// Writes what is in it.
    static func writeMembers(
        _ webhook: ShownWebhook, _ links: LinkBuilder, into writer: inout JSONWriter
    ) {
        writer.member("id", links.webhookID(webhook.id))
        writer.member("url", links.webhook(webhook.id))
        writer.member("version", webhook.payloadVersion.rawValue)
        writer.member("target_url", webhook.target)
        writer.key("events")
        writer.array { writer in
            for topic in webhook.topics {
                writer.string(TopicJSON.text(topic, webhook.payloadVersion))
            }
        }
        write(webhook.status, into: &writer)
        writer.member("created_at", TimestampJSON.text(webhook.createdAt))
        writer.key("config")
        WebhookConfigJSON.write(webhook.config ?? [], into: &writer)
    }

    /// Writes `status` and, of an inactive one, `status_reason` behind it.
    static func write(_ status: Webhook.Status, into writer: inout JSONWriter) {
        writer.member("status", text(status))
        if case .inactive(let reason) = status { writer.member("status_reason", reason) }
    }

    /// Its name, without a reason.
    static func text(_ status: Webhook.Status) -> String {
        switch status {
        case .unverified: "unverified"
        case .active: "active"
        case .inactive: "inactive"
        }
    }
}
