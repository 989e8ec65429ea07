import JSON
public import Messaging

/// What a webhook is sent to see whether it arrives: an event of which nothing is told (X6).
public enum WebhookTestJSON {
    /// Its name in all versions.
    public static let type = "webhook.test"

    /// The body: JSON, without white space, with the `config` of the webhook.
    public static func body(
        _ id: Occurrence.ID, at moment: Timestamp, to webhook: Webhook
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.key("event")
            writer.object { writer in
                // In the order of webhooks §4.1.
                if webhook.payloadVersion == .v1_0 {
                    writer.member("created_at", TimestampJSON.text(moment))
                    writer.member("type", type)
                    writer.member("id", id.uuid)
                } else {
                    writer.member("id", id.uuid)
                    writer.member("type", type)
                    writer.member("created_at", TimestampJSON.text(moment))
                }
            }
            if let config = webhook.config {
                writer.key("config")
                WebhookConfigJSON.write(config, into: &writer)
            }
        }
        return writer.finish()
    }
}
