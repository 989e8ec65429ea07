import HTTP
import Messaging

/// What a reader of the log wants (X3).
struct EventQuery: Sendable {
    /// Where he goes on.
    enum Start: Equatable, Sendable {
        /// At the first event that is kept.
        case oldest
        /// Behind the last one there is now.
        case end
        case after(LogPosition)
    }

    /// Most events of one answer, and how many there are when nobody says.
    static let (largest, usual) = (1000, 100)
    /// The longest wait, in milliseconds.
    static let longestWait: Int64 = 60_000

    let start: Start
    /// What he wants of them; `nil` for all.
    let types: Set<EventType>?
    /// Most events of the answer.
    let limit: Int
    /// How long to wait for one, in milliseconds.
    let wait: Int64

    /// Reads the parameters in the order of their documentation; larger wishes are cut.
    ///
    /// - Parameter lastEventID: What a stream that broke off had last; it wins over `after` (H154).
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
            try Self.count(query, "limit", .eventLimit, from: 1, upTo: Int64(Self.largest))
                ?? Int64(Self.usual))
        types = try Self.types(query)
        wait =
            try Self.count(query, "wait", .eventWait, from: 0, upTo: Self.longestWait / 1000)
            .map { $0 * 1000 } ?? 0
        // Of two places neither is obviously meant.
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

    /// Names parted by commas; an unknown one is refused, as nothing would ever be found.
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

    private static func count(
        _ query: Query, _ name: String, _ rule: ValidationRule, from least: Int64,
        upTo largest: Int64
    ) throws(Rejection) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let number = number(text), number >= least else { throw .invalid(name, rule) }
        return min(number, largest)
    }

    /// Digits alone; so many that they do not fit are a large number all the same.
    static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text) ?? .max
    }
}
