public import JSON
public import Messaging

/// A webhook as answers show it: never with its secret (webhooks §1.1).
public enum WebhookJSON {
    /// Writes the object; `status_reason` is there only of an inactive one.
    public static func write(
        _ webhook: Webhook, of application: Application.ID, _ links: LinkBuilder,
        into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(webhook.id, of: application))
            writer.member("url", links.webhook(webhook.id))
            writer.member("version", webhook.payloadVersion.rawValue)
            writer.member("target_url", webhook.target)
            writer.key("events")
            writer.array { writer in
                for topic in webhook.topics {
                    writer.string(TopicJSON.text(topic, webhook.payloadVersion))
                }
            }
            writer.member("status", status(webhook.status))
            if case .inactive(let reason) = webhook.status {
                writer.member("status_reason", reason)
            }
            writer.member("created_at", TimestampJSON.text(webhook.createdAt))
            writer.key("config")
            WebhookConfigJSON.write(webhook.config ?? [], into: &writer)
        }
    }

    private static func status(_ status: Webhook.Status) -> String {
        switch status {
        case .unverified: "unverified"
        case .active: "active"
        case .inactive: "inactive"
        }
    }
}
