public import Messaging
import SQL

/// A webhook, and of which stretches of the log it is told (webhooks §1.3).
public struct WebhookSubscription: Equatable, Sendable {
    /// The webhook, however it stands.
    public let webhook: Webhook
    /// Stretches it was active for, oldest first, that ended before the log was read so far.
    public let unread: [LogRange]

    /// Puts it together.
    public init(_ webhook: Webhook, unread: [LogRange] = []) {
        self.webhook = webhook
        self.unread = unread
    }

    /// Behind which place the first event is that it is told of; `nil` while it is told of none.
    public var since: LogPosition? {
        (unread.map(\.after) + [webhook.activeSince].compactMap(\.self)).min()
    }

    /// Whether it is told of what happened at a place.
    public func covers(_ position: LogPosition) -> Bool {
        if let since = webhook.activeSince, since < position { return true }
        return unread.contains { stretch in stretch.contains(position) }
    }
}

/// Events in a row.
public struct LogRange: Equatable, Sendable {
    /// The place before the first.
    public let after: LogPosition
    /// The last.
    public let through: LogPosition

    /// The events behind a place, up to another one.
    public init(after: LogPosition, through: LogPosition) {
        self.after = after
        self.through = through
    }

    func contains(_ position: LogPosition) -> Bool { after < position && position <= through }
}

extension Webhook {
    /// Behind which place of the log it is sent what happens; `nil` while it is not active.
    fileprivate var activeSince: LogPosition? {
        if case .active(let since) = status { since } else { nil }
    }
}

extension MessagingStore {
    /// The webhooks of an application that are told what happens, or have still to be told what happened while
    /// they were active.
    public func webhookSubscriptions(in application: Application.ID) async throws
        -> [WebhookSubscription]
    {
        try await database.read { transaction in
            try transaction.webhookSubscriptions(in: application)
        }
    }

    /// The applications with webhooks that are not told any more and have still to be told of the past.
    public func applicationsWithUnreadEvents() async throws -> Set<Application.ID> {
        try await database.read { transaction in
            Set(
                try transaction.rows("SELECT DISTINCT application FROM webhook_stretches") { row in
                    try row.id(0)
                })
        }
    }
}

extension Transaction {
    /// The same as ``MessagingStore/webhookSubscriptions(in:)``: an answer equals another one when nothing has changed.
    func webhookSubscriptions(in application: Application.ID) throws -> [WebhookSubscription] {
        let unread = try unreadStretches(in: application)
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

    private func unreadStretches(
        in application: Application.ID
    ) throws -> [Webhook.ID: [LogRange]] {
        let found = try rows(
            """
            SELECT webhook, after_position, through_position FROM webhook_stretches
            WHERE application = \(application) ORDER BY webhook, through_position
            """
        ) { row in
            (
                webhook: try row.id(0) as Webhook.ID,
                stretch: LogRange(
                    after: LogPosition(try row.int64(1)), through: LogPosition(try row.int64(2)))
            )
        }
        return Dictionary(grouping: found, by: \.webhook).mapValues { $0.map(\.stretch) }
    }

    /// Keeps for a webhook that is active no more what nobody has read for it yet.
    ///
    /// - Parameter since: The place behind which it was active.
    func keepUnread(
        of webhook: Webhook.ID, since: LogPosition, in application: Application.ID
    ) throws {
        let end = try endOfLog(in: application)
        let after = max(since, try webhookCheckpoint(in: application)?.after ?? since)
        guard after < end else { return }
        try execute(
            """
            INSERT INTO webhook_stretches (application, webhook, after_position, through_position)
            VALUES (\(application), \(webhook), \(after), \(end))
            """)
    }

    /// Lets go of stretches that have been read.
    func dropStretches(
        through place: LogPosition, in application: Application.ID
    ) throws {
        try execute(
            """
            DELETE FROM webhook_stretches
            WHERE application = \(application) AND through_position <= \(place)
            """)
    }

    /// A webhook that is there.
    ///
    /// - Throws: `Rejection.notFound(.webhook)`.
    func knownWebhook(_ id: Webhook.ID, in application: Application.ID) throws -> Webhook {
        guard let webhook = try webhook(id, in: application) else {
            throw Rejection.notFound(.webhook)
        }
        return webhook
    }
}
