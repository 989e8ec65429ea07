import Messaging
import SQL

extension Transaction {
    /// An export that was not deleted; `nil` for an unknown one.
    func export(_ id: Export.ID, in application: Application.ID) throws -> Export? {
        try first(
            """
            SELECT \(raw: Export.columns) FROM exports
            WHERE application = \(application) AND id = \(id) AND deleted_at IS NULL
            """
        ) { row in try Export(row) }
    }

    /// The key that archives are encrypted for; `nil` when none is set.
    func exportKey(in application: Application.ID) throws -> ExportKey? {
        try first("SELECT pem, der FROM export_keys WHERE application = \(application)") { row in
            ExportKey(pem: try row.text(0), der: try row.blob(1))
        }
    }

    /// When a historical export was last requested; `nil` for never.
    func lastHistoricalExport(in application: Application.ID) throws -> Timestamp? {
        try first(
            "SELECT last_historical_at FROM export_keys WHERE application = \(application)"
        ) { row in try row.optionalTimestamp(0) } ?? nil
    }

    /// The schedule of daily exports; `.none` if it was never set.
    func exportSchedule(in application: Application.ID) throws -> ExportSchedule {
        try first(
            """
            SELECT repetition, topics, position, next_at, last_at, last_export FROM export_schedules
            WHERE application = \(application)
            """
        ) { row in
            guard let interval = ExportSchedule.Interval(rawValue: try row.text(0)),
                let topics = [WebhookTopic](text: try row.text(1))
            else { throw StoreFault.unreadable("export_schedules") }
            return ExportSchedule(
                interval: interval, topics: topics, position: LogPosition(try row.int64(2)),
                nextAt: try row.optionalTimestamp(3), lastAt: try row.optionalTimestamp(4),
                last: try row.optionalID(5))
        } ?? .none
    }

    /// The last position of an application's log; `.start` if it is empty.
    func endOfLog(in application: Application.ID) throws -> LogPosition {
        try first("SELECT position FROM log_positions WHERE application = \(application)") { row in
            LogPosition(try row.int64(0))
        } ?? .start
    }
}

extension Export {
    /// The columns that ``init(_:)`` reads, in this order.
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
        guard let topics = [WebhookTopic](text: try row.text(3)) else {
            throw StoreFault.unreadable("exports.topics")
        }
        return .scheduled(
            Period(
                after: LogPosition(after), through: LogPosition(try row.int64(2)), topics: topics))
    }
}

// All topics are in one column, because no query selects by one of them.
extension [WebhookTopic] {
    var text: String { map(\.rawValue).joined(separator: " ") }

    init?(text: String) {
        let words = text.split(separator: " ")
        let topics = words.compactMap { word in WebhookTopic(rawValue: String(word)) }
        guard topics.count == words.count else { return nil }
        self = topics
    }
}

extension Projection {
    func setExportKey(_ key: ExportKey) throws {
        try transaction.execute(
            """
            INSERT INTO export_keys (application, pem, der)
            VALUES (\(application), \(key.pem), \(key.der))
            ON CONFLICT (application) DO UPDATE SET pem = excluded.pem, der = excluded.der
            """)
    }

    func setExportSchedule(_ schedule: ExportSchedule) throws {
        try transaction.execute(
            """
            INSERT INTO export_schedules (
                application, repetition, topics, position, next_at, last_at, last_export
            ) VALUES (
                \(application), \(schedule.interval.rawValue), \(schedule.topics.text),
                \(schedule.position), \(schedule.nextAt), \(schedule.lastAt), \(schedule.last)
            )
            ON CONFLICT (application) DO UPDATE SET
                repetition = excluded.repetition, topics = excluded.topics,
                position = excluded.position, next_at = excluded.next_at,
                last_at = excluded.last_at, last_export = excluded.last_export
            """)
    }

    /// Inserts an export whose archive is to be written, and updates the schedule that caused it.
    func request(_ export: Export, _ schedule: ExportSchedule?) throws {
        let period = export.period
        try transaction.execute(
            """
            INSERT INTO exports (
                application, id, after_position, through_position, topics, public_key, created_at,
                task
            ) VALUES (
                \(application), \(export.id), \(period?.after.number), \(period?.through.number),
                \(period?.topics.text), \(export.publicKey), \(export.createdAt),
                \(ExportTask.Kind.write.rawValue)
            )
            """)
        if let schedule { try setExportSchedule(schedule) }
        guard period == nil else { return }
        try transaction.execute(
            """
            UPDATE export_keys SET last_historical_at = \(export.createdAt)
            WHERE application = \(application)
            """)
    }

    func start(_ id: Export.ID, at moment: Timestamp) throws {
        try transaction.execute(
            """
            UPDATE exports SET started_at = \(moment)
            WHERE application = \(application) AND id = \(id)
            """)
    }

    func complete(_ id: Export.ID, _ archive: Export.Archive, at moment: Timestamp) throws {
        try transaction.execute(
            """
            UPDATE exports SET completed_at = \(moment), task = NULL, size = \(archive.size),
                sha256 = \(archive.sha256), crc32c = \(Int64(archive.crc32c)),
                encrypted_key = \(archive.encryptedKey), initial_vector = \(archive.initialVector)
            WHERE application = \(application) AND id = \(id)
            """)
    }

    func delete(_ id: Export.ID, at moment: Timestamp) throws {
        try transaction.execute(
            """
            UPDATE exports SET deleted_at = \(moment), task = \(ExportTask.Kind.erase.rawValue)
            WHERE application = \(application) AND id = \(id)
            """)
    }

    func expire(_ id: Export.ID, at moment: Timestamp) throws {
        try transaction.execute(
            """
            UPDATE exports SET expired_at = \(moment), task = \(ExportTask.Kind.erase.rawValue)
            WHERE application = \(application) AND id = \(id)
            """)
    }

    /// Ends the task of an export whose archive was deleted. The row of a deleted export is deleted; an expired one stays
    /// in the list.
    func erase(_ id: Export.ID) throws {
        try transaction.execute(
            """
            DELETE FROM exports
            WHERE application = \(application) AND id = \(id) AND deleted_at IS NOT NULL
            """)
        try transaction.execute(
            """
            UPDATE exports SET task = NULL WHERE application = \(application) AND id = \(id)
            """)
    }
}
