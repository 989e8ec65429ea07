import HTTP
import Messaging

/// The query of a request for events (X3).
struct EventQuery: Sendable {
    /// Where to begin.
    enum Start: Equatable, Sendable {
        /// At the oldest event of the log.
        case oldest
        /// After the current last event.
        case end
        case after(LogPosition)
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
    /// The most events of the answer.
    let limit: Int
    /// How long to wait for an event, in milliseconds.
    let wait: Int64

    /// Reads the parameters in the order of their documentation; larger values than allowed are cut.
    ///
    /// - Parameter lastEventID: The last id that a broken stream received; it overrides `after` (H154).
    init(_ query: Query, lastEventID: String? = nil) throws(Rejection) {
        if let lastEventID {
            guard let number = Self.number(lastEventID) else {
                throw .invalid("Last-Event-ID", .lastEventID)
            }
            start = .after(LogPosition(number))
        } else {
            start = try Self.start(query["after"])
        }
        limit = Int(
            try Self.count(query, "limit", .eventLimit, from: 1, upTo: Int64(Self.maximumLimit))
                ?? Int64(Self.defaultLimit))
        types = try Self.types(query)
        wait =
            try Self.count(query, "wait", .eventWait, from: 0, upTo: Self.maximumWait / 1000)
            .map { $0 * 1000 } ?? 0
        // With two values it is unclear which one is meant.
        for name in Self.names.sorted() where query.values(name).count > 1 {
            throw .invalid(name, .eventParameterTwice)
        }
    }

    private static let names: Set = ["after", "limit", "types", "wait"]

    private static func start(_ text: String?) throws(Rejection) -> Start {
        switch text {
        case nil: return .oldest
        case "now": return .end
        case let text?:
            guard let number = number(text) else { throw .invalid("after", .logPosition) }
            return .after(LogPosition(number))
        }
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

    static func count(
        _ query: Query, _ name: String, _ rule: ValidationRule, from least: Int64,
        upTo largest: Int64
    ) throws(Rejection) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let number = number(text), number >= least else { throw .invalid(name, rule) }
        return min(number, largest)
    }

    /// Reads decimal digits; a number that does not fit becomes the largest one.
    static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text) ?? .max
    }
}
