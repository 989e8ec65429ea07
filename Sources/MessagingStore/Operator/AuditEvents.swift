public import Messaging
import SQL

/// Which events of the server's own log to read.
public struct AuditQuery: Sendable {
    /// The order.
    public var order = LogOrder.ascending(after: nil)
    /// The types; `nil` for all.
    public var types: Set<AuditEventType>?
    /// The most events.
    public var limit = 100

    /// All events, oldest first.
    public init() {}
}

/// A page of the server's own log.
public struct AuditPage: Sendable {
    /// The events in the order of the query.
    public let events: [AuditEvent]
    /// The position with which the next page continues, also if no event was selected.
    public let next: LogPosition
    /// The number of positions that were examined.
    public let scanned: Int64
}

extension MessagingStore {
    /// Records an event of the server's own log.
    ///
    /// - Parameters:
    ///   - subject: The name or id of what it is about.
    ///   - count: How often it happened.
    public func recordAuditEvent(
        _ type: AuditEventType, subject: String? = nil, in application: Application.ID? = nil,
        count: Int64 = 1, from origin: AuditOrigin
    ) async throws {
        let now = environment.now()
        try await database.write { transaction in
            try transaction.record(
                type, subject: subject, in: application, count: count, from: origin, at: now)
        }
    }

    /// Reads a page of the server's own log; at most ``eventWindow`` positions are examined.
    ///
    /// - Throws: `Rejection.positionGone` for a position that was trimmed, `invalid("after")` for one after the end.
    public func auditEvents(_ query: AuditQuery) async throws -> AuditPage {
        try await database.read { transaction in
            let extent = try transaction.auditLogExtent()
            let window = try extent.window(query.order, of: Self.eventWindow)
            let events = try transaction.rows(
                .auditEvents(
                    after: window.low, through: window.high, types: query.types,
                    limit: query.limit, isDescending: window.isDescending)
            ) { row in try AuditEvent(row) }
            let isFull = events.count == query.limit
            let last = isFull ? events.last?.position.number : nil
            let end = window.isDescending ? window.low.number + 1 : window.high.number
            let next = last ?? end
            return AuditPage(
                events: events, next: LogPosition(next),
                scanned: abs(next - window.start.number))
        }
    }

    /// The last position of the server's own log whose event was recorded before a moment.
    public func auditPosition(before moment: Timestamp) async throws -> LogPosition {
        try await database.read { transaction in
            try transaction.first(.auditPosition(before: moment)) { row in
                LogPosition(try row.int64(0))
            } ?? transaction.auditLogExtent().trimmed
        }
    }

    /// Deletes the events of the server's own log that were recorded before a moment, a thousand at a time.
    public func trimAuditLog(before moment: Timestamp) async throws {
        let batch = 1000
        while true {
            try Task.checkCancellation()
            let deleted = try await database.write { transaction in
                let extent = try transaction.auditLogExtent()
                let old = try transaction.rows(
                    """
                    SELECT position, at FROM audit_events
                    WHERE position > \(extent.trimmed) ORDER BY position LIMIT \(batch)
                    """
                ) { row in (LogPosition(try row.int64(0)), try row.timestamp(1)) }
                .prefix { _, at in at < moment }
                guard let last = old.last?.0 else { return 0 }
                try transaction.execute("UPDATE audit_log SET trimmed = \(last) WHERE id = 1")
                try transaction.execute("DELETE FROM audit_events WHERE position <= \(last)")
                return old.count
            }
            guard deleted == batch else { return }
        }
    }
}

extension Transaction {
    /// Records an event of the server's own log. Its position comes from a row, so that there are no gaps and readers see
    /// the events in the order of their positions.
    func record(
        _ type: AuditEventType, subject: String?, in application: Application.ID? = nil,
        count: Int64 = 1, from origin: AuditOrigin, at now: Timestamp
    ) throws {
        try execute(
            """
            INSERT INTO audit_log (id, position, trimmed) VALUES (1, 1, 0)
            ON CONFLICT (id) DO UPDATE SET position = audit_log.position + 1
            """)
        try execute(
            """
            INSERT INTO audit_events (
                position, at, type, actor, address, request, subject, application, repeated
            ) VALUES (
                (SELECT position FROM audit_log WHERE id = 1), \(now), \(type.rawValue),
                \(origin.actor), \(origin.address), \(origin.request), \(subject), \(application),
                \(count)
            )
            """)
    }

    fileprivate func auditLogExtent() throws -> LogExtent {
        try first("SELECT trimmed, position FROM audit_log WHERE id = 1") { row in
            LogExtent(
                trimmed: LogPosition(try row.int64(0)), end: LogPosition(try row.int64(1)))
        } ?? LogExtent(trimmed: .start, end: .start)
    }
}

extension SQL {
    /// The events of the server's own log after a position up to another.
    ///
    /// - Parameter types: The types to select; `nil` for all.
    static func auditEvents(
        after position: LogPosition, through end: LogPosition,
        types: Set<AuditEventType>? = nil, limit: Int = 100, isDescending: Bool
    ) -> SQL {
        let kinds = types.map { types in types.map(\.rawValue).sorted() }
        return """
            SELECT position, at, type, actor, address, request, subject, application, repeated
            FROM audit_events
            WHERE position > \(position) AND position <= \(end)
                \(kinds.map { kinds -> SQL in "AND type \(in: .texts(kinds))" } ?? "")
            ORDER BY position \(raw: isDescending ? "DESC" : "ASC") LIMIT \(limit)
            """
    }

    /// The last position whose event was recorded before a moment.
    static func auditPosition(before moment: Timestamp) -> SQL {
        """
        SELECT position FROM audit_events WHERE at < \(moment)
        ORDER BY at DESC, position DESC LIMIT 1
        """
    }
}

extension AuditEvent {
    /// Reads `position, at, type, actor, address, request, subject, application, repeated`.
    fileprivate init(_ row: borrowing Row) throws {
        guard let type = AuditEventType(rawValue: try row.text(2)) else {
            throw StoreFault.unreadable("audit_events.type")
        }
        self.init(
            position: LogPosition(try row.int64(0)), at: try row.timestamp(1), type: type,
            origin: AuditOrigin(
                actor: try row.optionalText(3), address: try row.optionalText(4),
                request: try row.optionalText(5)),
            subject: try row.optionalText(6), application: try row.optionalID(7),
            count: try row.int64(8))
    }
}
