public import Messaging
import SQL

/// How far the event log was turned into webhook events.
///
/// In version 1.0 a receipt is one webhook event for each message, possibly a million, so a checkpoint can be
/// within an event.
public struct WebhookCheckpoint: Equatable, Sendable {
    /// Every event up to this position is done.
    public let after: LogPosition
    /// The last message of the next event that is done; `.start` when that event was not begun.
    let within: Position

    /// Creates a checkpoint.
    public init(after: LogPosition, within: Position = .start) {
        self.after = after
        self.within = within
    }
}

/// The webhook events of a range of the log.
public struct WebhookEventPage: Sendable {
    /// The webhook events, in the order of the log.
    public let events: [WebhookEvent]
    /// The checkpoint after the range, also when there are no events.
    public let next: WebhookCheckpoint
    /// Whether the log has more events now, up to the last one to read.
    public let isCut: Bool
}

extension MessagingStore {
    /// Reads the webhook events after a checkpoint (webhooks §4.2).
    ///
    /// Most events have one webhook event; in version 1.0 a receipt has one for each message.
    ///
    /// - Parameters:
    ///   - checkpoint: How far the log was read before.
    ///   - last: The last event to read; `nil` for the end of the log.
    ///   - wanted: The topics that receivers of each version subscribe to; other events are not read.
    ///   - limit: The approximate maximum number of webhook events. Those of one recorded event are not separated, except
    ///     those of a receipt.
    /// - Throws: `Rejection.positionGone` for a trimmed position.
    public func webhookEvents(
        after checkpoint: WebhookCheckpoint, through last: LogPosition? = nil,
        to wanted: [WebhookVersion: Set<WebhookTopic>], limit: Int, in application: Application.ID
    ) async throws -> WebhookEventPage {
        let hash = environment.sha256
        return try await database.read { transaction in
            let extent = try transaction.logExtent(in: application)
            try extent.check(checkpoint.after)
            let goal = min(extent.end, last ?? extent.end)
            let end = LogPosition(min(goal.number, checkpoint.after.number + Self.eventWindow))
            let types = wanted.values.flatMap(\.self).reduce(into: Set<EventType>()) {
                types, topic in types.formUnion(topic.types)
            }
            let found = try transaction.events(
                after: checkpoint.after, through: end, types: types, limit: limit, in: application)
            let isAll = !found.isCut && found.items.count < limit
            let through = isAll ? end : found.items.last?.position ?? end
            var builder = WebhookEventBuilder(
                transaction: transaction, from: LogPosition(checkpoint.after.number + 1),
                in: application, hash: hash, wanted: wanted, limit: limit)
            let next =
                try builder.build(found.items, within: checkpoint.within)
                ?? WebhookCheckpoint(after: through)
            return WebhookEventPage(
                events: builder.events, next: next,
                isCut: next.after < goal)
        }
    }
}
