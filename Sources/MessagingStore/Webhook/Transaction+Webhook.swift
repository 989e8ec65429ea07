import Messaging
import SQL

extension Transaction {
    /// A webhook; `nil` for none of that name.
    func webhook(_ id: Webhook.ID, in application: Application.ID) throws -> Webhook? {
        try first(
            """
            SELECT \(raw: Webhook.columns) FROM webhooks
            WHERE application = \(application) AND id = \(id)
            """
        ) { row in try Webhook(row) }
    }

    /// The same for a mutation: the row stays as it is until the mutation ends.
    ///
    /// - Throws: `Rejection.notFound(.webhook)`.
    func lockedWebhook(_ id: Webhook.ID, in application: Application.ID) throws -> Webhook {
        let found = try first(
            """
            SELECT \(raw: Webhook.columns) FROM webhooks
            WHERE application = \(application) AND id = \(id)
            \(.untilCommit)
            """
        ) { row in try Webhook(row) }
        guard let found else { throw Rejection.notFound(.webhook) }
        return found
    }

    /// How many webhooks an application has; nobody registers another one until the mutation ends.
    func lockedWebhookCount(in application: Application.ID) throws -> Int64 {
        _ = try first(
            """
            SELECT 1 FROM applications WHERE application = \(application)
            \(.untilCommit)
            """
        ) { row in try row.int64(0) }
        return try webhookCount(in: application)
    }

    func webhookCount(in application: Application.ID) throws -> Int64 {
        try first("SELECT COUNT(*) FROM webhooks WHERE application = \(application)") { row in
            try row.int64(0)
        } ?? 0
    }

    func insert(_ webhook: Webhook, in application: Application.ID) throws {
        let status = webhook.status.columns
        try execute(
            """
            INSERT INTO webhooks (
                application, id, payload_version, target, topics, secret, config, status, since,
                reason, created_at, version
            ) VALUES (
                \(application), \(webhook.id), \(webhook.payloadVersion.rawValue),
                \(webhook.target), \(webhook.topics.text), \(webhook.secret),
                \(webhook.config?.columnBytes), \(status.name), \(status.since), \(status.reason),
                \(webhook.createdAt), \(webhook.version)
            )
            """)
    }

    /// Writes how a webhook stands; of the rest only its secret ever changes.
    func update(_ webhook: Webhook, in application: Application.ID) throws {
        let status = webhook.status.columns
        try execute(
            """
            UPDATE webhooks SET
                status = \(status.name), since = \(status.since), reason = \(status.reason),
                version = \(webhook.version)
            WHERE application = \(application) AND id = \(webhook.id)
            """)
    }
}
