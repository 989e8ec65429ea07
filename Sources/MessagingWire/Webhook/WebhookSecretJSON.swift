public import JSON
public import Messaging

/// A secret in place of another one (X6).
public enum WebhookSecretJSON {
    /// How long the former one signs beside it when nobody says: a day.
    public static let usual: Int64 = 86_400
    /// The longest time, in seconds: 30 days.
    public static let longest: Int64 = 30 * 86_400

    /// Reads `secret` and `keep_for_seconds`.
    ///
    /// - Returns: The secret, and for how many milliseconds the former one signs beside it.
    public static func read(
        _ body: JSONValue
    ) throws(Rejection) -> (secret: String, keeping: Int64) {
        guard let value = body.present("secret") else { throw .missing("secret") }
        guard let secret = value.string, Webhook.Draft.isSecret(secret) else {
            throw .invalid("secret", .webhookSecret)
        }
        guard let value = body.present("keep_for_seconds") else { return (secret, usual * 1000) }
        guard let seconds = value.integer, (0...longest).contains(seconds) else {
            throw .invalid("keep_for_seconds", .secretOverlap)
        }
        return (secret, seconds * 1000)
    }
}
