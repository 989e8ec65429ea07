public import Messaging
import SQL

/// A page of the event log.
public struct EventPage: Sendable {
    /// The selected events, oldest first.
    public let events: [ResolvedEvent]
    /// The last position that was examined: the next page starts after it, also when no event was selected.
    public let through: LogPosition
    /// Whether the log has events after ``through``.
    public let isCut: Bool
}

extension MessagingStore {
    /// The maximum number of positions examined for one page. Without it, a reader of rare types would examine the whole
    /// log at once.
    static let eventWindow: Int64 = 10_000

    /// Reads the events after a position that have one of the given types, with the objects they show.
    ///
    /// - Parameters:
    ///   - position: The last position that the reader has; `nil` for the beginning of the log.
    ///   - types: `nil` for all types.
    ///   - limit: The maximum number of events; fewer are returned when they are large.
    /// - Throws: `Rejection.positionGone` for a position that was trimmed, `invalid("after")` for one after
    ///   the end.
    public func eventPage(
        after position: LogPosition?, types: Set<EventType>? = nil, limit: Int,
        in application: Application.ID
    ) async throws -> EventPage {
        let hash = environment.sha256
        return try await database.read { transaction in
            let extent = try transaction.logExtent(in: application)
            let position = position ?? extent.trimmed
            try extent.check(position)
            let end = LogPosition(min(extent.end.number, position.number + Self.eventWindow))
            let found = try transaction.events(
                after: position, through: end, types: types, limit: limit, in: application)
            let isAll = !found.isCut && found.items.count < limit
            var through = isAll ? end : found.items.last?.position ?? end
            let wanted = found.items.filter { types?.contains($0.event.type) ?? true }
            var resolver = EventResolver(
                transaction, from: LogPosition(position.number + 1), in: application, hash: hash)
            let events = try resolver.resolve(wanted)
            if events.count < wanted.count, let last = events.last {
                through = last.recorded.position
            }
            return EventPage(events: events, through: through, isCut: through < extent.end)
        }
    }

    /// The positions of the events that an application's log still has.
    public func logExtent(in application: Application.ID) async throws -> LogExtent {
        try await database.read { transaction in try transaction.logExtent(in: application) }
    }
}

/// The positions of the events that an event log still has: those after ``trimmed`` up to ``end``.
public struct LogExtent: Equatable, Sendable {
    /// The last position that was trimmed; zero if none was.
    public let trimmed: LogPosition
    /// The last position; zero for an empty log.
    public let end: LogPosition

    /// Checks that a reader may continue after a position.
    ///
    /// - Parameter name: The name of the request parameter.
    /// - Throws: `Rejection.positionGone` for a position before ``trimmed``; `invalid` with the name of the parameter for
    ///   one after ``end``.
    public func check(_ position: LogPosition, _ name: String = "after") throws(Rejection) {
        guard position >= trimmed else {
            throw .positionGone(oldest: LogPosition(trimmed.number + 1))
        }
        guard position <= end else {
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

    /// The events after a position up to another, oldest first, as many as fit into one response.
    ///
    /// - Parameter types: The types to select; `nil` for all.
    func events(
        after position: LogPosition, through end: LogPosition, types: Set<EventType>?, limit: Int,
        in application: Application.ID
    ) throws -> BoundedPage<RecordedEvent> {
        try eventPage(
            .events(
                after: position, through: end,
                kinds: types.map { types in types.map(\.rawValue).sorted() }, limit: limit,
                in: application))
    }

    /// The events after a position up to another that may concern a user, oldest first, as many as fit into one response:
    /// all but messages and receipts in conversations that the user does not see.
    func events(
        after position: LogPosition, through end: LogPosition, concerning user: UserID,
        limit: Int, in application: Application.ID
    ) throws -> BoundedPage<RecordedEvent> {
        try eventPage(
            .events(
                after: position, through: end, concerning: user, limit: limit, in: application))
    }

    private func eventPage(_ query: SQL) throws -> BoundedPage<RecordedEvent> {
        try boundedPage(query) { row in
            Int64(try row.blob(3).count)
        } _: { row in
            try RecordedEvent(row)
        }
    }
}

extension RecordedEvent {
    /// The columns that ``init(_:)`` reads, in this order.
    fileprivate static let columns: StaticString =
        "position, kind, at, payload, actor_user, actor_token, trace, actor_name"

    init(_ row: borrowing Row) throws {
        let recorder: EventActor? =
            if let user = try row.optionalUser(4) {
                .user(user)
            } else if let token: Token.ID = try row.optionalID(5) {
                .token(token)
            } else {
                try row.optionalText(7).map { name in .named(name) }
            }
        self.init(
            position: LogPosition(try row.int64(0)), at: try row.timestamp(2),
            event: try Event(type: try row.text(1), encoded: try row.blob(3)), recorder: recorder,
            trace: try row.optionalTrace(6))
    }
}

extension MessagingStore {
    /// Reads the events after a position, oldest first, without the objects they show.
    ///
    /// - Parameters:
    ///   - position: The last position that the reader has.
    ///   - limit: The maximum number of events.
    public func events(
        after position: LogPosition, limit: Int, in application: Application.ID
    ) async throws -> [RecordedEvent] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT \(raw: RecordedEvent.columns) FROM events
                WHERE application = \(application) AND position > \(position)
                ORDER BY position LIMIT \(limit)
                """
            ) { row in
                try RecordedEvent(row)
            }
        }
    }
}

// The queries for the event log. An index has their order, which a test checks with the query plan.
extension SQL {
    /// The events after a position up to another, oldest first.
    ///
    /// - Parameter kinds: The stored types to select; `nil` for all.
    static func events(
        after position: LogPosition, through end: LogPosition, kinds: [String]?, limit: Int,
        in application: Application.ID
    ) -> SQL {
        """
        SELECT \(raw: RecordedEvent.columns) FROM events
        WHERE application = \(application) AND position > \(position) AND position <= \(end)
            \(kinds.map { kinds -> SQL in "AND kind \(in: .texts(kinds))" } ?? "")
        ORDER BY position LIMIT \(limit)
        """
    }

    /// The events after a position up to another that may concern a user, oldest first.
    ///
    /// Messages and receipts are most of a log, so those in conversations that the user does not see are not decoded. The
    /// numbers are where the id of the conversation begins in the payload, counted from 1: they change with the encoding of
    /// `MessageSent` and `ReceiptsRecorded`.
    static func events(
        after position: LogPosition, through end: LogPosition, concerning user: UserID,
        limit: Int, in application: Application.ID
    ) -> SQL {
        """
        SELECT \(raw: RecordedEvent.columns) FROM events
        WHERE application = \(application) AND position > \(position) AND position <= \(end)
            AND (kind NOT IN ('message.sent', 'message.delivered', 'message.read')
                OR substr(payload, CASE kind WHEN 'message.sent' THEN 20 ELSE 3 END, 16) IN (
                    SELECT conversation FROM participants
                    WHERE application = \(application) AND user_id = \(user)
                        AND state = 'shown'
                ))
        ORDER BY position LIMIT \(limit)
        """
    }
}
