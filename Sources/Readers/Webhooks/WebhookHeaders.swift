internal import Bytes
public import Messaging
internal import MessagingWire

/// The header fields of the Layer API in what a webhook is sent (webhooks §3.1).
public enum LayerWebhookHeaders {
    /// How deliveries and verifications call themselves; receivers look for `layer-webhooks`.
    public static let userAgent = "layer-webhooks/1.0"

    /// The fields of one delivery; `Content-Length` is of whoever sends.
    ///
    /// - Parameters:
    ///   - type: What happened, as the webhook's version calls it.
    ///   - id: The same in all tries: `event.id`.
    ///   - body: What is sent, to the last byte.
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

/// The signature of the Layer API: HMAC-SHA1 of the body in lower-case hexadecimal digits (webhooks §3.2).
public enum LayerWebhookSignature {
    /// 40 characters.
    public static func of(_ body: [UInt8], secret: String) -> String {
        String(
            hexadecimal: Signature.of(body, key: Array(secret.utf8), by: .sha1))
    }
}

/// The header fields of Standard Webhooks in what a webhook is sent (X6).
public enum StandardWebhookHeaders {
    /// The fields of one try.
    ///
    /// - Parameters:
    ///   - id: The same in all tries and replays: `event.id`.
    ///   - secrets: What signs, the present one first.
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

    /// HMAC-SHA256 of name, time and body with dots between them, in Base64.
    static func signature(
        _ id: String, _ seconds: String, _ body: [UInt8], secret: String
    ) -> String {
        let signed = Array("\(id).\(seconds).".utf8) + body
        return "v1," + Base64.encode(Signature.of(signed, key: key(of: secret), by: .sha256))
    }

    /// A secret as the libraries of Standard Webhooks make them, `whsec_` and Base64, stands for its
    /// bytes; every other one for its UTF-8.
    static func key(of secret: String) -> [UInt8] {
        guard secret.hasPrefix("whsec_"), let key = Base64.decode(String(secret.dropFirst(6))),
            !key.isEmpty
        else { return Array(secret.utf8) }
        return key
    }
}

/// The header field that tells in which trace a webhook is sent something (X5).
enum TraceContextHeaders {
    /// The field of one try; none without a trace.
    ///
    /// - Parameter step: 8 bytes that name the try: the caller of whatever the receiver does about it.
    static func of(_ trace: Trace?, step: [UInt8]) -> [(name: String, value: String)] {
        guard let trace else { return [] }
        return [
            ("traceparent", "00-\(trace.id)-\(String(hexadecimal: step))-0\(trace.flags)")
        ]
    }
}
