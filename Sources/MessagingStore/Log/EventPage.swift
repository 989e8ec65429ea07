public import Messaging
import SQL

/// The order in which a page of a log is read, and where it begins.
public enum LogOrder: Equatable, Sendable {
    /// Oldest first, after a position; `nil` for the beginning.
    case ascending(after: LogPosition?)
    /// Newest first, before a position; `nil` for the end.
    case descending(before: LogPosition?)
}

/// Which events of an application's log to read.
public struct EventLogQuery: Sendable {
    /// The order.
    public var order: LogOrder
    /// The types; `nil` for all.
    public var types: Set<EventType>?
    /// A conversation, by its own id or an alias; its events under all its ids are selected.
    public var conversation: Conversation.ID?
    /// A user that caused the events or that they name.
    public var user: UserID?
    /// The most events; fewer are returned when they are large.
    public var limit: Int
    /// The most positions to examine. Without it, a reader of rare events would examine the whole log at once.
    public var window = MessagingStore.eventWindow

    /// All events in an order.
    public init(
        _ order: LogOrder, types: Set<EventType>? = nil, conversation: Conversation.ID? = nil,
        user: UserID? = nil, limit: Int
    ) {
        self.order = order
        self.types = types
        self.conversation = conversation
        self.user = user
        self.limit = limit
    }
}

/// A page of the event log.
public struct EventPage: Sendable {
    /// The selected events, in the order of the query.
    public let events: [ResolvedEvent]
    /// The last position that was examined: the next page starts after it, or before it in descending order, also when
    /// no event was selected.
    public let through: LogPosition
    /// Whether the log has events beyond ``through``.
    public let isCut: Bool
    /// The number of positions that were examined.
    public let scanned: Int64
}

extension MessagingStore {
    /// The maximum number of positions examined for one page.
    public static let eventWindow: Int64 = 10_000

    /// Reads a page of the event log, with the objects that its events show.
    ///
    /// - Throws: `Rejection.positionGone` for a position that was trimmed, `invalid("after")` for one after
    ///   the end.
    public func eventPage(
        _ query: EventLogQuery, in application: Application.ID
    ) async throws -> EventPage {
        let hash = environment.sha256
        return try await database.read { transaction in
            let extent = try transaction.logExtent(in: application)
            let window = try extent.window(query.order, of: query.window)
            let filter = try transaction.filter(query, in: application)
            var (wanted, through) = try transaction.events(
                in: window, filter, limit: query.limit, in: application)
            var events: [ResolvedEvent] = []
            // Events are resolved in ascending order, as many as fit; a page in descending order needs the newest ones.
            while let first = (window.isDescending ? wanted.last : wanted.first)?.position {
                var resolver = EventResolver(
                    transaction, from: first, in: application, hash: hash)
                events = try resolver.resolve(window.isDescending ? wanted.reversed() : wanted)
                guard events.count < wanted.count else { break }
                guard window.isDescending else {
                    through = events.last?.recorded.position ?? through
                    break
                }
                wanted = Array(wanted.prefix((wanted.count + 1) / 2))
                through = wanted.last?.position ?? through
            }
            return EventPage(
                events: window.isDescending ? events.reversed() : events, through: through,
                isCut: window.isDescending
                    ? through.number > extent.trimmed.number + 1 : through < extent.end,
                scanned: abs(through.number - window.start.number))
        }
    }

    /// The last position of an application's log whose event was recorded before a moment: times rise with positions, so
    /// it is found by a binary search in the index.
    public func logPosition(
        before moment: Timestamp, in application: Application.ID
    ) async throws -> LogPosition {
        try await database.read { transaction in
            let extent = try transaction.logExtent(in: application)
            var (low, high) = (extent.trimmed.number, extent.end.number)
            while low < high {
                // The upper middle, so that the range gets smaller in each step.
                let middle = LogPosition(low + (high - low + 1) / 2)
                let at = try transaction.first(.eventTime(at: middle, in: application)) { row in
                    try row.timestamp(0)
                }
                if let at, at < moment { low = middle.number } else { high = middle.number - 1 }
            }
            return LogPosition(low)
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

extension LogExtent {
    /// The positions that one page examines, in an order.
    struct Window {
        /// The position before the first one.
        let low: LogPosition
        /// The last position.
        let high: LogPosition
        let isDescending: Bool

        /// Where a page begins that has examined nothing.
        var start: LogPosition { isDescending ? LogPosition(high.number + 1) : low }
    }

    /// Returns the first positions in an order, at most `size`.
    ///
    /// - Throws: `Rejection.positionGone` for a position that was trimmed, `invalid("after")` for one after the end.
    func window(_ order: LogOrder, of size: Int64) throws(Rejection) -> Window {
        switch order {
        case .ascending(let after):
            let low = after ?? trimmed
            try check(low)
            return Window(
                low: low, high: LogPosition(min(end.number, low.number + size)),
                isDescending: false)
        case .descending(let before):
            // Before a position beyond the end is the end.
            let high = before.map { min(max($0.number, 1) - 1, end.number) } ?? end.number
            try check(LogPosition(high), "before")
            return Window(
                low: LogPosition(max(trimmed.number, high - size)), high: LogPosition(high),
                isDescending: true)
        }
    }
}

extension Transaction {
    /// The filter of a query. A conversation that is deleted or unknown has the id that was asked for only.
    func filter(_ query: EventLogQuery, in application: Application.ID) throws -> EventFilter {
        let ids = try query.conversation.map { id in
            let own = try winner(of: id, in: application) ?? id
            return try aliases(of: own, in: application).union([own])
        }
        return EventFilter(types: query.types, conversation: ids, user: query.user)
    }

    /// The selected events of a window in its order, and the last position that was examined.
    fileprivate func events(
        in window: LogExtent.Window, _ filter: EventFilter, limit: Int,
        in application: Application.ID
    ) throws -> (events: [RecordedEvent], through: LogPosition) {
        // Without the index of a type, conversation or user, events are decoded to be selected.
        let batchSize = filter.isOfTypes ? limit : 1000
        var (found, through): ([RecordedEvent], LogPosition) = ([], window.start)
        var (low, high) = (window.low, window.high)
        while low < high {
            let batch = try eventPage(
                .events(
                    after: low, through: high, kinds: filter.types, limit: batchSize,
                    isDescending: window.isDescending, in: application))
            for event in batch.items where filter.selects(event) {
                found.append(event)
                guard found.count < limit else { return (found, event.position) }
            }
            let isRead = !batch.isCut && batch.items.count < batchSize
            guard !isRead, let last = batch.items.last?.position else {
                return (
                    found, window.isDescending ? LogPosition(low.number + 1) : high
                )
            }
            through = last
            if window.isDescending { high = LogPosition(last.number - 1) } else { low = last }
            // What was found may already be as large as an answer may be.
            if batch.isCut, !found.isEmpty { break }
        }
        return (found, through)
    }

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
                after: position, through: end, kinds: types, limit: limit, in: application))
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
    /// When an event was recorded.
    static func eventTime(at position: LogPosition, in application: Application.ID) -> SQL {
        "SELECT at FROM events WHERE application = \(application) AND position = \(position)"
    }

    /// The events after a position up to another, oldest first or newest first.
    ///
    /// - Parameter types: The types to select; `nil` for all.
    static func events(
        after position: LogPosition, through end: LogPosition, kinds types: Set<EventType>?,
        limit: Int, isDescending: Bool = false, in application: Application.ID
    ) -> SQL {
        let kinds = types.map { types in types.map(\.rawValue).sorted() }
        return """
            SELECT \(raw: RecordedEvent.columns) FROM events
            WHERE application = \(application) AND position > \(position) AND position <= \(end)
                \(kinds.map { kinds -> SQL in "AND kind \(in: .texts(kinds))" } ?? "")
            ORDER BY position \(raw: isDescending ? "DESC" : "ASC") LIMIT \(limit)
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
