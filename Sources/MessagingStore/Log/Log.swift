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
                SELECT position, kind, at, payload FROM events
                WHERE application = \(application) AND position > \(place)
                ORDER BY position LIMIT \(limit)
                """
            ) { row in
                RecordedEvent(
                    position: LogPosition(try row.int64(0)), at: try row.timestamp(2),
                    event: try Event(kind: try row.text(1), payload: try row.blob(3)))
            }
        }
    }
}
