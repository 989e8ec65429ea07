public import Messaging
import SQL

/// A stretch of the log that somebody wants sent to a webhook again.
public struct WebhookReplay: Equatable, Sendable {
    /// Names one replay.
    public typealias ID = Identifier<WebhookReplay>

    /// Its name.
    public let id: ID
    /// To whom.
    public let webhook: Webhook.ID
    /// Up to where it is made into deliveries.
    public let place: WebhookCheckpoint
    /// The last position of it.
    public let through: LogPosition
}

extension MessagingStore {
    /// Has what happened sent to a webhook again, behind what waits already, once it is active (X6).
    ///
    /// - Parameters:
    ///   - after: The position in front of the first event.
    ///   - before: The position behind the last one; `nil` for all there are now.
    /// - Throws: `Rejection.notFound(.webhook)`; `Rejection.positionGone` when the log does not go back so
    ///   far; `Rejection.invalid("after")` when it does not go so far.
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
                id: id, webhook: webhook, place: WebhookCheckpoint(after: after),
                through: min(last, extent.end))
            guard replay.through > after else { return replay }
            try transaction.execute(
                """
                INSERT INTO webhook_replays (
                    application, id, webhook, after_position, within_position, through_position
                ) VALUES (
                    \(application), \(id), \(webhook), \(after), \(replay.place.within),
                    \(replay.through)
                )
                """)
            context.webhooksChanged()
            return replay
        }
    }

    /// What is to be replayed now in an application: the oldest wish of an active webhook; `nil` for none.
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
                    place: WebhookCheckpoint(
                        after: LogPosition(try row.int64(2)), within: try row.position(3)),
                    through: LogPosition(try row.int64(4)))
            }
        }
    }

    /// Remembers deliveries of a replay together with how far it is: both or neither.
    ///
    /// - Parameter place: `nil` when it is done, or makes no sense any more.
    public func enqueue(
        _ drafts: [DeliveryDraft], of replay: WebhookReplay, to place: WebhookCheckpoint?,
        in application: Application.ID
    ) async throws {
        try await database.write { [environment] transaction in
            let isThere: Bool
            if let place {
                isThere =
                    try transaction.rowsChanged(
                        by: """
                            UPDATE webhook_replays
                            SET after_position = \(place.after), within_position = \(place.within)
                            WHERE application = \(application) AND id = \(replay.id)
                                AND after_position = \(replay.place.after)
                                AND within_position = \(replay.place.within)
                            """) > 0
            } else {
                isThere =
                    try transaction.rowsChanged(
                        by: """
                            DELETE FROM webhook_replays
                            WHERE application = \(application) AND id = \(replay.id)
                                AND after_position = \(replay.place.after)
                                AND within_position = \(replay.place.within)
                            """) > 0
            }
            guard isThere, try transaction.webhook(replay.webhook, in: application) != nil else {
                return
            }
            try transaction.add(
                drafts, at: environment.now(), in: application, newID: environment.newID)
        }
    }
}
