public import Messaging
import SQL

extension MessagingStore {
    /// The number of events deleted in one transaction, so that other changes are not delayed.
    private static let batchSize = 1000

    /// Deletes the events of all applications that were recorded before a moment (X3).
    ///
    /// Events that an export or a webhook still has to read are not deleted.
    public func trimLogs(before moment: Timestamp) async throws {
        try await repeatInEachApplication { application in
            try await trimLog(of: application, before: moment)
        }
    }

    /// Repeats a short task in each application until it returns false.
    func repeatInEachApplication(_ task: (Application.ID) async throws -> Bool) async throws {
        for application in try await applications() {
            while try await task(application.id) { try Task.checkCancellation() }
        }
    }

    /// Deletes the oldest events of an application.
    ///
    /// - Returns: Whether there may be more.
    private func trimLog(
        of application: Application.ID, before moment: Timestamp
    ) async throws -> Bool {
        try await database.write { transaction in
            let extent = try transaction.logExtent(in: application)
            let limit = try transaction.positionReadByAll(in: application) ?? extent.end
            let oldest = try transaction.rows(
                """
                SELECT position, at FROM events
                WHERE application = \(application) AND position > \(extent.trimmed)
                ORDER BY position LIMIT \(Self.batchSize)
                """
            ) { row in (LogPosition(try row.int64(0)), try row.timestamp(1)) }
            let old = oldest.prefix { position, at in at < moment && position <= limit }
            guard let last = old.last?.0 else { return false }
            try transaction.execute(
                """
                UPDATE log_positions SET trimmed = \(last) WHERE application = \(application)
                """)
            try transaction.execute(
                """
                DELETE FROM events WHERE application = \(application) AND position <= \(last)
                """)
            try transaction.trimHistory(through: last, in: application)
            return old.count == Self.batchSize
        }
    }
}

extension Transaction {
    /// The position up to which every running or daily export and every webhook has read the log; `nil` if none of them
    /// reads it.
    fileprivate func positionReadByAll(in application: Application.ID) throws -> LogPosition? {
        try rows(
            """
            SELECT position FROM export_schedules
            WHERE application = \(application) AND next_at IS NOT NULL
            UNION ALL
            SELECT after_position FROM exports
            WHERE application = \(application) AND task IS NOT NULL
                AND after_position IS NOT NULL
            UNION ALL
            SELECT after_position FROM webhook_readers
            WHERE application = \(application) AND EXISTS (
                SELECT 1 FROM webhooks
                WHERE application = \(application) AND status = 'active'
            )
            UNION ALL
            SELECT after_position FROM webhook_ranges WHERE application = \(application)
            UNION ALL
            SELECT r.after_position FROM webhook_replays r
            JOIN webhooks w ON w.application = r.application AND w.id = r.webhook
            WHERE r.application = \(application) AND w.status = 'active'
            """
        ) { row in LogPosition(try row.int64(0)) }.min()
    }
}
