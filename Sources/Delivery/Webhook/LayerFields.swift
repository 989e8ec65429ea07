public import Messaging
internal import MessagingWire

/// The header fields of the Layer API in what a webhook is sent (webhooks §3.1).
public enum LayerFields {
    /// How deliveries and verifications call themselves; receivers look for `layer-webhooks`.
    public static let userAgent = "layer-webhooks/1.0"

    /// The fields of one delivery; `Content-Length` is of whoever sends.
    ///
    /// - Parameters:
    ///   - type: What happened, as the webhook's version calls it.
    ///   - id: The same in all tries: `event.id`.
    ///   - body: What is sent, to the last octet.
    public static func of(
        _ type: String, _ id: Occurrence.ID, _ body: [UInt8], to webhook: Webhook,
        in application: Application.ID
    ) -> [(name: String, value: String)] {
        let version = webhook.payloadVersion
        return [
            ("layer-webhook-event-type", type),
            ("layer-webhook-signature", LayerSignature.of(body, secret: webhook.secret)),
            ("layer-webhook-request-id", id.uuid),
            ("layer-webhook-id", IdentifierJSON.text(webhook.id, of: application)),
            ("user-agent", userAgent),
            ("content-type", "application/vnd.layer.webhooks+json; version=\(version.rawValue)"),
        ]
    }
}
