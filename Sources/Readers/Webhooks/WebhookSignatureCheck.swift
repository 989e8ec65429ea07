internal import Bytes
public import Messaging

/// Compares the signatures of a webhook request with those that its webhook's secret makes, for a developer whose receiver
/// refuses requests.
public struct WebhookSignatureCheck: Equatable, Sendable {
    /// The result for one of the two signatures.
    public enum Outcome: String, Sendable {
        /// The signature is that of the secret.
        case match
        /// The signature is another one.
        case mismatch
        /// The headers have no signature.
        case missing
    }

    /// The result for the signature of the Layer API.
    public let layer: Outcome
    /// The result for the signature of Standard Webhooks.
    public let standard: Outcome
    /// Why one of them does not match, or would not be accepted; `nil` if both match.
    public let reason: String?

    /// How far the time of a request may be from that of its receiver, in seconds.
    private static let tolerance: Int64 = 300

    /// Checks a request.
    ///
    /// - Parameters:
    ///   - headers: By name, in any case of letters.
    ///   - body: Exactly the bytes that were received.
    ///   - now: The current time.
    public init(
        headers: [(name: String, value: String)], body: [UInt8], secret: String,
        at now: Timestamp
    ) {
        func header(_ name: String) -> String? {
            headers.first { header in header.name.lowercased() == name }?.value
        }
        var reasons: [String] = []
        let layerName = "layer-webhook-signature"
        if let given = header(layerName) {
            let isSame = Self.isEqual(given, LayerWebhookSignature.of(body, secret: secret))
            layer = isSame ? .match : .mismatch
        } else {
            layer = .missing
            reasons.append("There is no header `\(layerName)`.")
        }
        let missing = ["webhook-id", "webhook-timestamp", "webhook-signature"]
            .filter { name in header(name) == nil }
        if let id = header("webhook-id"), let time = header("webhook-timestamp"),
            let given = header("webhook-signature")
        {
            let signature = StandardWebhookHeaders.signature(id, time, body, secret: secret)
            let isSame = given.split(separator: " ")
                .contains { one in Self.isEqual(String(one), signature) }
            standard = isSame ? .match : .mismatch
            if Int64(time).map({ !Self.isCurrent($0, now) }) ?? true {
                reasons.append(
                    "`webhook-timestamp` is not within five minutes of the present time, so a receiver refuses it."
                )
            }
        } else {
            standard = .missing
            let names = missing.map { name in "`\(name)`" }.joined(separator: ", ")
            reasons.append("There is no header \(names).")
        }
        if layer == .mismatch || standard == .mismatch {
            reasons.append(
                "The body is not exactly what was sent, or the receiver has another secret: compare the bytes before they are parsed."
            )
        }
        reason = reasons.isEmpty ? nil : reasons.joined(separator: " ")
    }

    private static func isCurrent(_ seconds: Int64, _ now: Timestamp) -> Bool {
        let present = now.milliseconds / 1000
        return (present - tolerance...present + tolerance).contains(seconds)
    }

    private static func isEqual(_ one: String, _ other: String) -> Bool {
        Signature.matches(Array(one.utf8), Array(other.utf8))
    }
}
