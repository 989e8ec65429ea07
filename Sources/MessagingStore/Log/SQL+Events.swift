import Messaging
import SQL

// How readers ask for the log: an index has its order, however long it is, and a test asks whether it does.
extension SQL {
    /// The events behind a place and up to another, oldest first.
    ///
    /// - Parameter kinds: Only these; `nil` for all.
    static func events(
        after place: LogPosition, through end: LogPosition, kinds: [String]?, limit: Int,
        in application: Application.ID
    ) -> SQL {
        """
        SELECT \(raw: RecordedEvent.columns) FROM events
        WHERE application = \(application) AND position > \(place) AND position <= \(end)
            \(kinds.map { kinds -> SQL in "AND kind IN (\(few: kinds))" } ?? "")
        ORDER BY position LIMIT \(limit)
        """
    }
}
