public import Messaging
import SQL
import SystemSupport

/// Deletes events that are older than the retention (X3), and old feed entries of deleted objects (Y1), every ten
/// minutes.
public final class LogTrimmer: Sendable {
    /// The interval in milliseconds.
    static let interval: Int64 = 600_000

    private let store: MessagingStore
    private let retention: Int64
    private let sleep: @Sendable (Int64) async -> Void
    private let onFault: @Sendable (any Error) -> Void
    private let work = BackgroundTask()

    /// Creates a trimmer; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - retention: How long an event is stored, in milliseconds; 0 for no limit. It does not apply to feeds.
    ///   - sleep: Waits that many milliseconds, unless its task is cancelled; `nil` for the real clock.
    ///   - onFault: Called when a run failed; the next run tries again.
    public init(
        store: MessagingStore, retention: Int64, sleep: (@Sendable (Int64) async -> Void)? = nil,
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        self.store = store
        self.retention = retention
        self.sleep = sleep ?? pause(milliseconds:)
        self.onFault = onFault
    }

    /// Starts. Call it once.
    public func start() { work.start { await self.run() } }

    /// Stops after the current batch.
    public func stop() async { await work.stop() }

    private func run() async {
        while !Task.isCancelled {
            do {
                let now = store.environment.now().milliseconds
                if retention > 0 {
                    try await store.trimLogs(before: Timestamp(milliseconds: now - retention))
                }
                try await store.trimFeeds(
                    before: Timestamp(milliseconds: now - MessagingStore.feedRetention))
            } catch is CancellationError {
                return
            } catch {
                onFault(error)
            }
            await sleep(Self.interval)
        }
    }
}

extension MessagingStore {
    /// The number of events deleted in one transaction, so that other changes are not delayed.
    private static let batchSize = 1000

    /// Deletes the events of all applications that were recorded before a moment (X3).
    ///
    /// Events that an export or a webhook still has to read are not deleted.
    public func trimLogs(before moment: Timestamp) async throws {
        for application in try await applications() {
            while try await trimLog(of: application.id, before: moment) {
                try Task.checkCancellation()
            }
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
