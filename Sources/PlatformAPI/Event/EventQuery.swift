import HTTP
import Messaging
import MessagingStore
import MessagingWire

/// The query of a request for events (X3).
struct EventQuery: Sendable {
    /// Where to begin.
    enum Start: Equatable, Sendable {
        /// At the oldest event of the log.
        case oldest
        /// After the current last event.
        case end
        case after(LogPosition)
        /// Newest first, before a position; `nil` for the end of the log.
        case before(LogPosition?)
        /// At the first event that was recorded at a moment or later; in descending order with the one before it.
        case time(Timestamp, isDescending: Bool)
    }

    /// The most events of one answer.
    static let maximumLimit = 1000
    /// The most events of an answer without the parameter `limit`.
    private static let defaultLimit = 100
    /// The longest wait, in milliseconds.
    static let maximumWait: Int64 = 60_000

    let start: Start
    /// The types of events to return; `nil` for all.
    let types: Set<EventType>?
    /// The conversation of the events to return; `nil` for all.
    let conversation: Conversation.ID?
    /// The user that the events to return name; `nil` for all.
    let user: UserID?
    /// Whether each event has its line of `parley log`.
    let includesText: Bool
    /// The most events of the answer.
    let limit: Int
    /// How long to wait for an event, in milliseconds.
    let wait: Int64

    /// Reads the parameters in the order of their documentation; larger values than allowed are cut.
    ///
    /// - Parameters:
    ///   - isStream: Whether the answer is a stream, which has no other order than that of the log.
    ///   - lastEventID: The last id that a broken stream received; it overrides `after` (H154).
    init(
        _ query: Query, isStream: Bool = false, lastEventID: String? = nil
    ) throws(Rejection) {
        let isDescending = try Self.isDescending(query)
        if isStream, isDescending { throw .invalid("order", .eventOrderOfStream) }
        if let lastEventID {
            guard let number = Query.number(lastEventID) else {
                throw .invalid("Last-Event-ID", .lastEventID)
            }
            start = .after(LogPosition(number))
        } else {
            start = try Self.start(query, isDescending: isDescending)
        }
        limit = Int(
            try query.count("limit", .eventLimit, from: 1, upTo: Int64(Self.maximumLimit))
                ?? Int64(Self.defaultLimit))
        types = try Self.types(query)
        conversation = try Self.conversation(query)
        user = try query.user("user", .v3_0)
        includesText = try query.isSet("include", to: "text", .eventInclude)
        wait =
            try query.count("wait", .eventWait, from: 0, upTo: Self.maximumWait / 1000)
            .map { $0 * 1000 } ?? 0
        if wait > 0, isDescending { throw .invalid("wait", .needsAscendingOrder) }
        // With two values it is unclear which one is meant.
        for name in Self.names where query.values(name).count > 1 {
            throw .invalid(name, .eventParameterTwice)
        }
    }

    private static let names = [
        "after", "at", "before", "conversation", "include", "limit", "order", "types", "user",
        "wait",
    ]

    private static func isDescending(_ query: Query) throws(Rejection) -> Bool {
        switch query["order"] {
        case nil: return query["before"] != nil
        case "asc":
            if query["before"] != nil { throw .invalid("before", .needsDescendingOrder) }
            return false
        case "desc": return true
        default: throw .invalid("order", .eventOrder)
        }
    }

    private static func start(_ query: Query, isDescending: Bool) throws(Rejection) -> Start {
        let time = try query.time("at")
        let before = try position(query, "before")
        let isFromEnd = query["after"] == "now"
        let after = isFromEnd ? nil : try position(query, "after")
        let hasAfter = isFromEnd || after != nil
        if hasAfter, isDescending { throw .invalid("after", .needsAscendingOrder) }
        if let time {
            guard !hasAfter, before == nil else { throw .invalid("at", .eventTimeAlone) }
            return .time(time, isDescending: isDescending)
        }
        if isDescending { return .before(before) }
        return isFromEnd ? .end : after.map(Start.after) ?? .oldest
    }

    private static func conversation(_ query: Query) throws(Rejection) -> Conversation.ID? {
        guard let text = query["conversation"] else { return nil }
        guard let id: Conversation.ID = IdentifierJSON.read(text, in: .conversations) else {
            throw .invalid("conversation", .conversationFilter)
        }
        return id
    }

    private static func position(
        _ query: Query, _ name: String
    ) throws(Rejection) -> LogPosition? {
        guard let text = query[name] else { return nil }
        guard let number = Query.number(text) else { throw .invalid(name, .logPosition) }
        return LogPosition(number)
    }

    /// Reads names separated by commas; an unknown one is an error, since it would never match.
    private static func types(_ query: Query) throws(Rejection) -> Set<EventType>? {
        guard let text = query["types"] else { return nil }
        var types: Set<EventType> = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let type = EventType(rawValue: String(name)) else {
                throw .invalid("types", .eventTypes, .init(text: String(name)))
            }
            types.insert(type)
        }
        return types
    }
}
