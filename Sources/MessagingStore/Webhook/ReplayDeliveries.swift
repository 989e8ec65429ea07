public import Messaging
import SQL

/// A range of the log to be delivered to a webhook again.
public struct WebhookReplay: Equatable, Sendable {
    /// The id of a replay.
    public typealias ID = Identifier<WebhookReplay>

    /// Its id.
    fileprivate let id: ID
    /// The webhook.
    public let webhook: Webhook.ID
    /// How far it has been turned into deliveries.
    public let checkpoint: WebhookCheckpoint
    /// The last position.
    public let through: LogPosition
}

extension MessagingStore {
    /// Requests a replay. Its deliveries are added after the pending ones, while the webhook is active (X6).
    ///
    /// - Parameters:
    ///   - after: The position before the first event.
    ///   - before: The position after the last event; `nil` for all events so far.
    /// - Throws: `Rejection.notFound(.webhook)`; `Rejection.positionGone` for a trimmed position;
    ///   `Rejection.invalid("after")` for one after the end.
    public func replay(
        after: LogPosition, before: LogPosition?, to webhook: Webhook.ID,
        in application: Application.ID
    ) async throws -> WebhookReplay {
        let id: WebhookReplay.ID = environment.newID()
        return try await change(in: application) { context in
            let transaction = context.transaction
            _ = try transaction.knownWebhook(webhook, in: application)
            let extent = try transaction.logExtent(in: application)
            try extent.check(after)
            let last = before.map { before in LogPosition(before.number - 1) } ?? extent.end
            let replay = WebhookReplay(
                id: id, webhook: webhook, checkpoint: WebhookCheckpoint(after: after),
                through: min(last, extent.end))
            guard replay.through > after else { return replay }
            try transaction.execute(
                """
                INSERT INTO webhook_replays (
                    application, id, webhook, after_position, within_position, through_position
                ) VALUES (
                    \(application), \(id), \(webhook), \(after), \(replay.checkpoint.within),
                    \(replay.through)
                )
                """)
            context.notifyWebhookWorkers()
            return replay
        }
    }

    /// The oldest replay of an active webhook of an application; `nil` for none.
    public func nextReplay(in application: Application.ID) async throws -> WebhookReplay? {
        try await database.read { transaction in
            try transaction.first(
                """
                SELECT r.id, r.webhook, r.after_position, r.within_position, r.through_position
                FROM webhook_replays r
                JOIN webhooks w ON w.application = r.application AND w.id = r.webhook
                WHERE r.application = \(application) AND w.status = 'active'
                ORDER BY r.id LIMIT 1
                """
            ) { row in
                WebhookReplay(
                    id: try row.id(0), webhook: try row.id(1),
                    checkpoint: WebhookCheckpoint(
                        after: LogPosition(try row.int64(2)), within: try row.position(3)),
                    through: LogPosition(try row.int64(4)))
            }
        }
    }

    /// Stores deliveries of a replay and its new checkpoint in one transaction; does nothing if another process has moved
    /// the checkpoint, or the webhook was deleted.
    ///
    /// - Parameter checkpoint: How far the range is done; `nil` to end the replay, because it is done or no longer
    ///   possible.
    public func enqueue(
        _ drafts: [DeliveryDraft], of replay: WebhookReplay, to checkpoint: WebhookCheckpoint?,
        in application: Application.ID
    ) async throws {
        try await database.write { [environment] transaction in
            let isUnchanged: Bool
            if let checkpoint {
                isUnchanged =
                    try transaction.rowsChanged(
                        by: """
                            UPDATE webhook_replays
                            SET after_position = \(checkpoint.after), within_position = \(checkpoint.within)
                            WHERE application = \(application) AND id = \(replay.id)
                                AND after_position = \(replay.checkpoint.after)
                                AND within_position = \(replay.checkpoint.within)
                            """) > 0
            } else {
                isUnchanged =
                    try transaction.rowsChanged(
                        by: """
                            DELETE FROM webhook_replays
                            WHERE application = \(application) AND id = \(replay.id)
                                AND after_position = \(replay.checkpoint.after)
                                AND within_position = \(replay.checkpoint.within)
                            """) > 0
            }
            guard isUnchanged, try transaction.webhook(replay.webhook, in: application) != nil
            else {
                return
            }
            try transaction.add(
                drafts, at: environment.now(), in: application, newID: environment.newID)
        }
    }
}
