public import Messaging
import SQL

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
