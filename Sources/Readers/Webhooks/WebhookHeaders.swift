internal import Bytes
public import Messaging
internal import MessagingWire

/// The Layer API's headers of a webhook request (webhooks §3.1).
public enum LayerWebhookHeaders {
    /// The `User-Agent` of deliveries and verifications; receivers look for `layer-webhooks`.
    public static let userAgent = "layer-webhooks/1.0"

    /// The headers of one delivery; the HTTP client adds `Content-Length`.
    ///
    /// - Parameters:
    ///   - type: The event type, as the webhook's version names it.
    ///   - id: `event.id`, the same in all attempts.
    ///   - body: Exactly the bytes that are sent.
    public static func of(
        _ type: String, _ id: EventID, _ body: [UInt8], to webhook: Webhook,
        in application: Application.ID
    ) -> [(name: String, value: String)] {
        let version = webhook.payloadVersion
        return [
            ("layer-webhook-event-type", type),
            ("layer-webhook-signature", LayerWebhookSignature.of(body, secret: webhook.secret)),
            ("layer-webhook-request-id", id.uuid),
            ("layer-webhook-id", IdentifierJSON.text(webhook.id, of: application)),
            ("user-agent", userAgent),
            ("content-type", "application/vnd.layer.webhooks+json; version=\(version.rawValue)"),
        ]
    }
}

/// The Layer API's signature: HMAC-SHA1 of the body in lower-case hexadecimal (webhooks §3.2).
public enum LayerWebhookSignature {
    /// The 40 characters of the signature.
    public static func of(_ body: [UInt8], secret: String) -> String {
        String(
            hexadecimal: Signature.of(body, key: Array(secret.utf8), by: .sha1))
    }
}

/// The headers of Standard Webhooks (X6).
public enum StandardWebhookHeaders {
    /// The headers of one attempt.
    ///
    /// - Parameters:
    ///   - id: `event.id`, the same in all attempts and replays.
    ///   - secrets: The secrets to sign with, the current one first.
    public static func of(
        _ id: EventID, _ body: [UInt8], at moment: Timestamp, secrets: [String]
    ) -> [(name: String, value: String)] {
        let seconds = String(moment.milliseconds / 1000)
        let signatures = secrets.map { secret in
            signature(id.uuid, seconds, body, secret: secret)
        }
        return [
            ("webhook-id", id.uuid), ("webhook-timestamp", seconds),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }

    /// HMAC-SHA256 of id, time and body, separated by dots, in Base64.
    static func signature(
        _ id: String, _ seconds: String, _ body: [UInt8], secret: String
    ) -> String {
        let signed = Array("\(id).\(seconds).".utf8) + body
        return "v1," + Base64.encode(Signature.of(signed, key: key(of: secret), by: .sha256))
    }

    /// The key of a secret: the decoded bytes of `whsec_` and Base64, as Standard Webhooks
    /// libraries create it, or else the secret's UTF-8.
    static func key(of secret: String) -> [UInt8] {
        guard secret.hasPrefix("whsec_"), let key = Base64.decode(String(secret.dropFirst(6))),
            !key.isEmpty
        else { return Array(secret.utf8) }
        return key
    }
}

/// The trace header of a webhook request (X5).
enum TraceContextHeaders {
    /// The header of one attempt; none without a trace.
    ///
    /// - Parameter step: 8 bytes that identify the attempt; the receiver's spans have it as their
    ///   parent.
    static func of(_ trace: Trace?, step: [UInt8]) -> [(name: String, value: String)] {
        guard let trace else { return [] }
        return [
            ("traceparent", "00-\(trace.id)-\(String(hexadecimal: step))-0\(trace.flags)")
        ]
    }
}
