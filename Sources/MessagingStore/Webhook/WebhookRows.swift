public import Messaging
import SQL

extension Webhook {
    /// The columns that ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        """
        id, payload_version, target, topics, secret, config, status, since, reason, created_at,
        version
        """

    init(_ row: borrowing Row) throws {
        guard let payloadVersion = WebhookVersion(rawValue: try row.text(1)),
            let topics = [WebhookTopic](text: try row.text(3))
        else { throw StoreFault.unreadable("webhooks") }
        self.init(
            id: try row.id(0), payloadVersion: payloadVersion, target: try row.text(2),
            topics: topics, secret: try row.text(4),
            config: try row.optionalBlob(5).map([Setting].init(columnBytes:)),
            status: try Status(row), createdAt: try row.timestamp(9), version: try row.int64(10))
    }
}

extension Webhook.Status {
    /// The values of the columns `status`, `since` and `reason`.
    var columns: (name: String, since: Int64?, reason: String?) {
        switch self {
        case .unverified: ("unverified", nil, nil)
        case .active(let since): ("active", since.number, nil)
        case .inactive(let reason): ("inactive", nil, reason)
        }
    }

    fileprivate init(_ row: borrowing Row) throws {
        switch (try row.text(6), try row.optionalInt64(7), try row.optionalText(8)) {
        case ("unverified", nil, nil): self = .unverified
        case ("active", let since?, nil): self = .active(since: LogPosition(since))
        case ("inactive", nil, let reason?): self = .inactive(reason: reason)
        default: throw StoreFault.unreadable("webhooks.status")
        }
    }
}

// All settings are in one column, because no query selects by one of them.
extension [Webhook.Setting] {
    var columnBytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(each: self) { writer, setting in
            writer.write(setting.name)
            writer.write(setting.value)
        }
        return writer.bytes
    }

    init(columnBytes: [UInt8]) throws {
        var reader = ByteReader(columnBytes)
        self = try reader.each { reader in
            Webhook.Setting(name: try reader.text(), value: try reader.text())
        }
        try reader.finish()
    }
}

extension Transaction {
    /// A webhook; `nil` for an unknown one.
    func webhook(_ id: Webhook.ID, in application: Application.ID) throws -> Webhook? {
        try first(
            """
            SELECT \(raw: Webhook.columns) FROM webhooks
            WHERE application = \(application) AND id = \(id)
            """
        ) { row in try Webhook(row) }
    }

    /// A webhook whose row is locked until the transaction ends.
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

    /// The number of webhooks of an application. No other process can create one until the transaction ends.
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

    /// Writes the status and version of a webhook. Of the other columns only the secret ever changes, in
    /// ``MessagingStore/rotateSecret(to:keeping:of:in:)``.
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

/// A previous secret, with which requests are signed in addition to the current one for a while.
public struct FormerSecret: Equatable, Sendable {
    /// The secret.
    public let text: String
    /// When it is not used any more.
    public let until: Timestamp
}

extension MessagingStore {
    /// Replaces the secret of a webhook. For a while, requests are signed with the previous one too (X6).
    ///
    /// - Parameter keeping: How long the previous secret is used, in milliseconds; 0 for not at all.
    /// - Throws: `Rejection.notFound(.webhook)`.
    public func rotateSecret(
        to secret: String, keeping: Int64, of id: Webhook.ID, in application: Application.ID
    ) async throws -> Webhook {
        try await change(in: application) { context in
            let transaction = context.transaction
            let webhook = try transaction.lockedWebhook(id, in: application)
            let until = Timestamp(milliseconds: context.now.milliseconds + keeping)
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
            try context.record(
                .webhookSecretRotated(
                    WebhookSecretRotated(webhook: WebhookSummary(rotated), formerUntil: until)))
            context.notifyWebhookWorkers()
            return rotated
        }
    }
}

extension Transaction {
    /// The previous secret of a webhook, while it is used; otherwise `nil`.
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
