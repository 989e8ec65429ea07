public import Messaging
import SQL

/// A stretch of the log as its readers are shown it.
public struct EventPage: Sendable {
    /// Some of the events, oldest first.
    public let events: [ResolvedEvent]
    /// How far the log was looked at: the next stretch comes after it, also when nothing was found.
    public let through: LogPosition
    /// Whether the log goes on behind it.
    public let isCut: Bool
}

extension MessagingStore {
    /// Positions that are looked at for one page: among those of other types few may be wanted.
    static let eventWindow: Int64 = 10_000

    /// The events after a place that have one of some types, with what they show.
    ///
    /// - Parameters:
    ///   - place: The last position the reader has; `nil` for none.
    ///   - types: `nil` for all.
    ///   - limit: Most events; a page that would be large has fewer.
    /// - Throws: `Rejection.positionGone` for a place before the first that is kept,
    ///   `invalid("after")` for one behind the end.
    public func eventPage(
        after place: LogPosition?, types: Set<EventType>? = nil, limit: Int,
        in application: Application.ID
    ) async throws -> EventPage {
        let hash = environment.sha256
        return try await database.read { transaction in
            let extent = try transaction.logExtent(in: application)
            let place = place ?? extent.trimmed
            try extent.check(place)
            let end = LogPosition(min(extent.end.number, place.number + Self.eventWindow))
            let found = try transaction.events(
                after: place, through: end, types: types, limit: limit, in: application)
            let isAll = !found.isCut && found.items.count < limit
            var through = isAll ? end : found.items.last?.position ?? end
            let wanted = found.items.filter { types?.contains($0.event.type) ?? true }
            var shower = EventResolver(
                transaction, from: LogPosition(place.number + 1), in: application, hash: hash)
            let events = try shower.shown(wanted)
            if events.count < wanted.count, let last = events.last {
                through = last.recorded.position
            }
            return EventPage(events: events, through: through, isCut: through < extent.end)
        }
    }

    /// The first place a reader may come after, and the last position there is.
    public func logExtent(in application: Application.ID) async throws -> LogExtent {
        try await database.read { transaction in try transaction.logExtent(in: application) }
    }
}

/// How far a log reaches.
public struct LogExtent: Equatable, Sendable {
    /// The last position that is gone; zero while none is.
    public let trimmed: LogPosition
    /// The last position.
    public let end: LogPosition

    /// Whether a reader may go on after a place.
    ///
    /// - Parameter name: The parameter that names the place.
    /// - Throws: `Rejection.positionGone`, and `invalid` of the parameter.
    public func check(_ place: LogPosition, _ name: String = "after") throws(Rejection) {
        guard place >= trimmed else {
            throw .positionGone(oldest: LogPosition(trimmed.number + 1))
        }
        guard place <= end else {
            throw .invalid(name, .logPositionBeyondEnd, .init(amount: Int(end.number)))
        }
    }
}

extension Transaction {
    func logExtent(in application: Application.ID) throws -> LogExtent {
        try first(
            "SELECT trimmed, position FROM log_positions WHERE application = \(application)"
        ) { row in
            LogExtent(
                trimmed: LogPosition(try row.int64(0)), end: LogPosition(try row.int64(1)))
        } ?? LogExtent(trimmed: .start, end: .start)
    }

    func events(
        after place: LogPosition, through end: LogPosition, types: Set<EventType>?, limit: Int,
        in application: Application.ID
    ) throws -> BoundedPage<RecordedEvent> {
        try stretch(
            .events(
                after: place, through: end, kinds: types.map(Event.kinds), limit: limit,
                in: application)
        ) { row in
            Int64(try row.blob(3).count)
        } _: { row in
            try RecordedEvent(row)
        }
    }
}

extension RecordedEvent {
    /// What ``init(_:)`` reads, in this order.
    static let columns: StaticString = "position, kind, at, payload, actor_user, actor_token, trace"

    init(_ row: borrowing Row) throws {
        let recorder: EventActor? =
            if let user = try row.optionalUser(4) {
                .user(user)
            } else {
                try row.optionalID(5).map { id in .token(id) }
            }
        self.init(
            position: LogPosition(try row.int64(0)), at: try row.timestamp(2),
            event: try Event(kind: try row.text(1), payload: try row.blob(3)), recorder: recorder,
            trace: try row.optionalTrace(6))
    }
}

extension MessagingStore {
    /// The events after a place, oldest first; reading takes nothing away.
    ///
    /// - Parameters:
    ///   - place: The last position the reader has.
    ///   - limit: Most events to return.
    public func events(
        after place: LogPosition, limit: Int, in application: Application.ID
    ) async throws -> [RecordedEvent] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT \(raw: RecordedEvent.columns) FROM events
                WHERE application = \(application) AND position > \(place)
                ORDER BY position LIMIT \(limit)
                """
            ) { row in
                try RecordedEvent(row)
            }
        }
    }
}

// How readers ask for the log: an index has its order, however long it is, and a test asks whether it does.
extension SQL {
    /// The events behind a place and up to another, oldest first.
    ///
    /// - Parameter kinds: Only these; `nil` for all.
    static func events(
        after place: LogPosition, through end: LogPosition, kinds: [String]?, limit: Int,
        in application: Application.ID
    ) -> SQL {
        """
        SELECT \(raw: RecordedEvent.columns) FROM events
        WHERE application = \(application) AND position > \(place) AND position <= \(end)
            \(kinds.map { kinds -> SQL in "AND kind IN (\(few: kinds))" } ?? "")
        ORDER BY position LIMIT \(limit)
        """
    }
}
