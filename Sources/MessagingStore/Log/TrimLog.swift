public import Messaging
import SQL

extension MessagingStore {
    /// Events that are let go of in one transaction: others have to change things meanwhile.
    private static let trimStretch = 1000

    /// Lets go of the events recorded before a moment, of all applications (X3).
    ///
    /// Never of those that an export or a webhook has still to tell of.
    public func trimLogs(before moment: Timestamp) async throws {
        for application in try await applications() {
            while try await trimLog(of: application.id, before: moment) {
                try Task.checkCancellation()
            }
        }
    }

    /// Lets go of the oldest stretch.
    ///
    /// - Returns: Whether there may be more.
    private func trimLog(
        of application: Application.ID, before moment: Timestamp
    ) async throws -> Bool {
        try await database.write { transaction in
            let extent = try transaction.logExtent(in: application)
            let needed = try transaction.firstNeeded(in: application) ?? extent.end
            let oldest = try transaction.rows(
                """
                SELECT position, at FROM events
                WHERE application = \(application) AND position > \(extent.trimmed)
                ORDER BY position LIMIT \(Self.trimStretch)
                """
            ) { row in (LogPosition(try row.int64(0)), try row.timestamp(1)) }
            let old = oldest.prefix { position, at in at < moment && position <= needed }
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
            return old.count == Self.trimStretch
        }
    }
}

extension Transaction {
    /// The last event that nobody will ask for: no export, running or daily, and no webhook; `nil` where
    /// nobody asks for any.
    fileprivate func firstNeeded(in application: Application.ID) throws -> LogPosition? {
        try rows(
            """
            SELECT place FROM export_schedules
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
            SELECT after_position FROM webhook_stretches WHERE application = \(application)
            UNION ALL
            SELECT r.after_position FROM webhook_replays r
            JOIN webhooks w ON w.application = r.application AND w.id = r.webhook
            WHERE r.application = \(application) AND w.status = 'active'
            """
        ) { row in LogPosition(try row.int64(0)) }.min()
    }
}
