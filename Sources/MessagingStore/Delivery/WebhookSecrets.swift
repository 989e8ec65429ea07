public import Messaging
import SQL

/// A secret that was replaced and still signs beside the present one.
public struct FormerSecret: Equatable, Sendable {
    /// The secret.
    public let text: String
    /// From when on it signs no more.
    public let until: Timestamp
}

extension MessagingStore {
    /// Gives a webhook another secret; the one before signs beside it for a while (X6).
    ///
    /// - Parameter keeping: How long, in milliseconds; with 0 it is over at once.
    /// - Throws: `Rejection.notFound(.webhook)`.
    public func rotateSecret(
        to secret: String, keeping: Int64, of id: Webhook.ID, in application: Application.ID
    ) async throws -> Webhook {
        try await change(in: application) { recording in
            let transaction = recording.transaction
            let webhook = try transaction.lockedWebhook(id, in: application)
            let until = Timestamp(milliseconds: recording.now.milliseconds + keeping)
            try transaction.execute(
                """
                UPDATE webhooks SET secret = \(secret), version = version + 1
                WHERE application = \(application) AND id = \(id)
                """)
            try transaction.execute(
                """
                INSERT INTO former_secrets (application, webhook, secret, until)
                VALUES (\(application), \(id), \(webhook.secret), \(until))
                ON CONFLICT (application, webhook) DO UPDATE
                SET secret = excluded.secret, until = excluded.until
                """)
            let rotated = try transaction.knownWebhook(id, in: application)
            try recording.record(.webhookSecretRotated(ShownWebhook(rotated), formerUntil: until))
            recording.webhooksChanged()
            return rotated
        }
    }
}

extension Transaction {
    /// The secret a webhook had before, as long as it signs.
    func formerSecret(
        of webhook: Webhook.ID, at now: Timestamp, in application: Application.ID
    ) throws -> FormerSecret? {
        try first(
            """
            SELECT secret, until FROM former_secrets
            WHERE application = \(application) AND webhook = \(webhook) AND until > \(now)
            """
        ) { row in FormerSecret(text: try row.text(0), until: try row.timestamp(1)) }
    }
}
