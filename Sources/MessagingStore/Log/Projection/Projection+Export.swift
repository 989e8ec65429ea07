import Messaging
import SQL

extension Projection {
    func keep(_ key: ExportKey) throws {
        try transaction.execute(
            """
            INSERT INTO export_keys (application, pem, der)
            VALUES (\(application), \(key.pem), \(key.der))
            ON CONFLICT (application) DO UPDATE SET pem = excluded.pem, der = excluded.der
            """)
    }

    func keep(_ schedule: ExportSchedule) throws {
        try transaction.execute(
            """
            INSERT INTO export_schedules (
                application, repetition, topics, place, next_at, last_at, last_export
            ) VALUES (
                \(application), \(schedule.interval.rawValue), \(schedule.topics.text),
                \(schedule.place), \(schedule.nextAt), \(schedule.lastAt), \(schedule.last)
            )
            ON CONFLICT (application) DO UPDATE SET
                repetition = excluded.repetition, topics = excluded.topics,
                place = excluded.place, next_at = excluded.next_at,
                last_at = excluded.last_at, last_export = excluded.last_export
            """)
    }

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
        if let schedule { try keep(schedule) }
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

    /// A deleted export goes with its archive, an expired one stays in the list.
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
