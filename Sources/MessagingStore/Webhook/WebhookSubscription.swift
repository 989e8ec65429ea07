public import Messaging
import SQL

/// A webhook and the ranges of the log it receives (webhooks §1.3).
public struct WebhookSubscription: Equatable, Sendable {
    /// The webhook, in any status.
    public let webhook: Webhook
    /// Ranges of the log in which it was active and that are not read yet, although it was deactivated since; oldest
    /// first.
    public let unread: [LogRange]

    /// Creates a subscription.
    public init(_ webhook: Webhook, unread: [LogRange] = []) {
        self.webhook = webhook
        self.unread = unread
    }

    /// The position before the first event it receives; `nil` when it receives none.
    public var since: LogPosition? {
        (unread.map(\.after) + [webhook.activeSince].compactMap(\.self)).min()
    }

    /// Whether it receives the event at a position.
    public func covers(_ position: LogPosition) -> Bool {
        if let since = webhook.activeSince, since < position { return true }
        return unread.contains { range in range.contains(position) }
    }
}

/// A range of positions in an event log.
public struct LogRange: Equatable, Sendable {
    /// The position before the first event.
    fileprivate let after: LogPosition
    /// The position of the last event.
    public let through: LogPosition

    /// Creates a range.
    public init(after: LogPosition, through: LogPosition) {
        self.after = after
        self.through = through
    }

    func contains(_ position: LogPosition) -> Bool { after < position && position <= through }
}

extension Webhook {
    /// The position after which an active webhook receives events; `nil` while it is not active.
    fileprivate var activeSince: LogPosition? {
        if case .active(let since) = status { since } else { nil }
    }
}

extension MessagingStore {
    /// The webhooks of an application that are active, or still have to receive events of a time when they were active.
    public func webhookSubscriptions(in application: Application.ID) async throws
        -> [WebhookSubscription]
    {
        try await database.read { transaction in
            try transaction.webhookSubscriptions(in: application)
        }
    }

    /// The applications that have webhooks with unread ranges.
    public func applicationsWithUnreadEvents() async throws -> Set<Application.ID> {
        try await database.read { transaction in
            Set(
                try transaction.rows("SELECT DISTINCT application FROM webhook_ranges") { row in
                    try row.id(0)
                })
        }
    }
}

extension Transaction {
    /// See ``MessagingStore/webhookSubscriptions(in:)``. The order is fixed, so that equal results mean that nothing has
    /// changed.
    func webhookSubscriptions(in application: Application.ID) throws -> [WebhookSubscription] {
        let unread = try unreadRanges(in: application)
        let active = try rows(
            """
            SELECT \(raw: Webhook.columns) FROM webhooks
            WHERE application = \(application) AND status = 'active' ORDER BY id
            """
        ) { row in try Webhook(row) }
        let others = Set(unread.keys).subtracting(active.map(\.id))
            .sorted { one, other in one.uuid < other.uuid }
        return try (active + others.map { id in try knownWebhook(id, in: application) })
            .map { webhook in WebhookSubscription(webhook, unread: unread[webhook.id] ?? []) }
    }

    private func unreadRanges(
        in application: Application.ID
    ) throws -> [Webhook.ID: [LogRange]] {
        let found = try rows(
            """
            SELECT webhook, after_position, through_position FROM webhook_ranges
            WHERE application = \(application) ORDER BY webhook, through_position
            """
        ) { row in
            (
                webhook: try row.id(0) as Webhook.ID,
                range: LogRange(
                    after: LogPosition(try row.int64(1)), through: LogPosition(try row.int64(2)))
            )
        }
        return Dictionary(grouping: found, by: \.webhook).mapValues { $0.map(\.range) }
    }

    /// Stores the range of the log that is not read yet for a webhook that is being deactivated, if there is one.
    ///
    /// - Parameter since: The position after which it was active.
    func storeUnreadRange(
        of webhook: Webhook.ID, since: LogPosition, in application: Application.ID
    ) throws {
        let end = try endOfLog(in: application)
        let after = max(since, try webhookCheckpoint(in: application)?.after ?? since)
        guard after < end else { return }
        try execute(
            """
            INSERT INTO webhook_ranges (application, webhook, after_position, through_position)
            VALUES (\(application), \(webhook), \(after), \(end))
            """)
    }

    /// Deletes the ranges that end at or before a position, because they were read.
    func deleteUnreadRanges(
        through position: LogPosition, in application: Application.ID
    ) throws {
        try execute(
            """
            DELETE FROM webhook_ranges
            WHERE application = \(application) AND through_position <= \(position)
            """)
    }

    /// A webhook that must exist.
    ///
    /// - Throws: `Rejection.notFound(.webhook)`.
    func knownWebhook(_ id: Webhook.ID, in application: Application.ID) throws -> Webhook {
        guard let webhook = try webhook(id, in: application) else {
            throw Rejection.notFound(.webhook)
        }
        return webhook
    }
}
