public import Messaging
import SQL

/// How far somebody has been told of a log.
///
/// In webhooks of version 1.0 a receipt is told of each message it is for, which may be a million: so a
/// place can be within an event.
public struct WebhookCheckpoint: Equatable, Sendable {
    /// Every event up to here is told of.
    public let after: LogPosition
    /// Of the event behind that, the messages up to here; `.start` while it is not begun.
    public let within: Position

    /// A place behind an event, or within the next one.
    public init(after: LogPosition, within: Position = .start) {
        self.after = after
        self.within = within
    }
}

/// What is told of a stretch of the log.
public struct WebhookEventPage: Sendable {
    /// In the order of the log.
    public let events: [WebhookEvent]
    /// Where the next stretch begins, also when nothing was to be told.
    public let next: WebhookCheckpoint
    /// Whether more of the log is there now.
    public let isCut: Bool
}

extension MessagingStore {
    /// What receivers hear of the log behind a place (webhooks §4.2).
    ///
    /// Almost always one thing of an event; of a receipt over many messages each of them in 1.0.
    ///
    /// - Parameters:
    ///   - place: How far they have been told.
    ///   - last: The last event to tell of; `nil` for all there are.
    ///   - wanted: What receivers of each version have asked for; the rest is passed over unread.
    ///   - limit: About how many things to tell: an event that is several is told whole, but for
    ///     receipts.
    /// - Throws: `Rejection.positionGone` for a place before the first that is kept.
    public func webhookEvents(
        after place: WebhookCheckpoint, through last: LogPosition? = nil,
        to wanted: [WebhookVersion: Set<WebhookTopic>], limit: Int, in application: Application.ID
    ) async throws -> WebhookEventPage {
        let hash = environment.sha256
        return try await database.read { transaction in
            let extent = try transaction.logExtent(in: application)
            try extent.check(place.after)
            let goal = min(extent.end, last ?? extent.end)
            let end = LogPosition(min(goal.number, place.after.number + Self.eventWindow))
            let types = wanted.values.flatMap(\.self).reduce(into: Set<EventType>()) {
                types, topic in types.formUnion(topic.types)
            }
            let found = try transaction.events(
                after: place.after, through: end, types: types, limit: limit, in: application)
            let isAll = !found.isCut && found.items.count < limit
            let through = isAll ? end : found.items.last?.position ?? end
            var teller = WebhookEventBuilder(
                transaction: transaction, from: LogPosition(place.after.number + 1),
                in: application, hash: hash, wanted: wanted, limit: limit)
            let next =
                try teller.tell(found.items, within: place.within)
                ?? WebhookCheckpoint(after: through)
            return WebhookEventPage(
                events: teller.told, next: next,
                isCut: next.after < goal)
        }
    }
}
