import Messaging
import SQL

extension Transaction {
    /// An export nobody has deleted; `nil` for none.
    func export(_ id: Export.ID, in application: Application.ID) throws -> Export? {
        try first(
            """
            SELECT \(raw: Export.columns) FROM exports
            WHERE application = \(application) AND id = \(id) AND deleted_at IS NULL
            """
        ) { row in try Export(row) }
    }

    /// What exports are sealed for; `nil` for nothing yet.
    func exportKey(in application: Application.ID) throws -> ExportKey? {
        try first("SELECT pem, der FROM export_keys WHERE application = \(application)") { row in
            ExportKey(pem: try row.text(0), der: try row.blob(1))
        }
    }

    /// When a historical export was last asked for.
    func lastHistoricalExport(in application: Application.ID) throws -> Timestamp? {
        try first(
            "SELECT last_historical_at FROM export_keys WHERE application = \(application)"
        ) { row in try row.optionalTimestamp(0) } ?? nil
    }

    /// The schedule as it stands.
    func exportSchedule(in application: Application.ID) throws -> ExportSchedule {
        try first(
            """
            SELECT repetition, topics, place, next_at, last_at, last_export FROM export_schedules
            WHERE application = \(application)
            """
        ) { row in
            guard let interval = ExportSchedule.Interval(rawValue: try row.text(0)),
                let topics = [Topic](text: try row.text(1))
            else { throw StoreFault.unreadable("export_schedules") }
            return ExportSchedule(
                interval: interval, topics: topics, place: LogPosition(try row.int64(2)),
                nextAt: try row.optionalTimestamp(3), lastAt: try row.optionalTimestamp(4),
                last: try row.optionalID(5))
        } ?? .none
    }

    /// The last place of the log.
    func endOfLog(in application: Application.ID) throws -> LogPosition {
        try first("SELECT position FROM log_positions WHERE application = \(application)") { row in
            LogPosition(try row.int64(0))
        } ?? .start
    }
}

extension Export {
    /// What ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        """
        id, after_position, through_position, topics, public_key, created_at, started_at,
        completed_at, expired_at, size, sha256, crc32c, encrypted_key, initial_vector
        """

    init(_ row: borrowing Row) throws {
        self.init(
            id: try row.id(0), scope: try Self.scope(row), publicKey: try row.blob(4),
            createdAt: try row.timestamp(5))
        startedAt = try row.optionalTimestamp(6)
        completedAt = try row.optionalTimestamp(7)
        expiredAt = try row.optionalTimestamp(8)
        guard let size = try row.optionalInt64(9) else { return }
        guard let crc32c = UInt32(exactly: try row.int64(11)) else {
            throw StoreFault.unreadable("exports.crc32c")
        }
        archive = Archive(
            size: size, sha256: try row.blob(10), crc32c: crc32c,
            encryptedKey: try row.blob(12), initialVector: try row.blob(13))
    }

    private static func scope(_ row: borrowing Row) throws -> Scope {
        guard let after = try row.optionalInt64(1) else { return .historical }
        guard let topics = [Topic](text: try row.text(3)) else {
            throw StoreFault.unreadable("exports.topics")
        }
        return .scheduled(
            Period(
                after: LogPosition(after), through: LogPosition(try row.int64(2)), topics: topics))
    }
}

// Topics in one column: nobody looks for one of them.
extension [Topic] {
    var text: String { map(\.rawValue).joined(separator: " ") }

    init?(text: String) {
        let words = text.split(separator: " ")
        let topics = words.compactMap { word in Topic(rawValue: String(word)) }
        guard topics.count == words.count else { return nil }
        self = topics
    }
}
