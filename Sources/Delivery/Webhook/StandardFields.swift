internal import Base64
internal import Digests
public import Messaging

/// The header fields of Standard Webhooks in what a webhook is sent (X6).
public enum StandardFields {
    /// The fields of one try.
    ///
    /// - Parameters:
    ///   - id: The same in all tries and replays: `event.id`.
    ///   - secrets: What signs, the present one first.
    public static func of(
        _ id: Occurrence.ID, _ body: [UInt8], at moment: Timestamp, secrets: [String]
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
    /// octets; every other one for its UTF-8.
    static func key(of secret: String) -> [UInt8] {
        guard secret.hasPrefix("whsec_"), let key = Base64.decode(String(secret.dropFirst(6))),
            !key.isEmpty
        else { return Array(secret.utf8) }
        return key
    }
}
