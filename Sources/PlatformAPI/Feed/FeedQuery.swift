import Messaging
import MessagingStore

/// The query of a request for a user's feed (Y1).
struct FeedQuery: Sendable {
    /// The cursor to continue after; `nil` for a client that has nothing.
    let after: FeedCursor?
    /// Which messages the client wants.
    let history: FeedHistory
    /// The most items of the answer.
    let limit: Int
    /// How long to wait for a change, in milliseconds.
    let wait: Int64

    /// The messages of each conversation that a client receives which does not say how many it wants.
    static let defaultHistory: Int64 = 25
    /// The most items of an answer without the parameter `limit`.
    private static let defaultLimit = 100

    /// Reads the parameters in the order of their documentation; larger values than allowed are cut.
    ///
    /// - Parameter lastEventID: The last id that a broken stream received; it overrides `after` (H154).
    init(_ query: Query, lastEventID: String? = nil) throws(Rejection) {
        if let lastEventID {
            guard let cursor = FeedCursor(lastEventID) else {
                throw .invalid("Last-Event-ID", .feedCursor)
            }
            after = cursor
        } else {
            after = try query["after"].map { text throws(Rejection) in
                guard let cursor = FeedCursor(text) else {
                    throw .invalid("after", .feedCursor)
                }
                return cursor
            }
        }
        history =
            switch query["history"] {
            case nil: .newest(Self.defaultHistory)
            case "unread": .unread
            case "all": .all
            case let text?:
                if let count = Query.number(text) {
                    .newest(min(count, FeedHistory.limit))
                } else {
                    throw .invalid("history", .feedHistory)
                }
            }
        limit = Int(
            try query.count("limit", .eventLimit, from: 1, upTo: Int64(EventQuery.maximumLimit))
                ?? Int64(Self.defaultLimit))
        wait =
            try query.count(
                "wait", .eventWait, from: 0, upTo: EventQuery.maximumWait / 1000
            ).map { $0 * 1000 } ?? 0
        // With two values it is unclear which one is meant.
        for name in ["after", "history", "limit", "wait"] where query.values(name).count > 1 {
            throw .invalid(name, .eventParameterTwice)
        }
    }
}
