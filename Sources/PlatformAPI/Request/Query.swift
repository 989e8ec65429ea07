import HTTP
import Messaging
import MessagingWire

/// The query parameters of a request that its endpoint declares; if one is repeated, its first value counts.
struct Query: Sendable {
    private let parameters: [(name: String, value: String)]
    /// The names that the endpoint does not declare, each once, in order (ruling 21).
    let unknown: [String]

    /// A query without parameters.
    static let none = Query()

    private init() {
        parameters = []
        unknown = []
    }

    /// Reads the query of a URL.
    ///
    /// - Parameter declared: The parameters of the endpoint; all others are unknown.
    /// - Throws: 400 for a query that cannot be decoded, or with more than 256 parameters (H57, H61).
    init(_ target: RequestTarget, _ declared: QueryNames) throws(APIError) {
        let all: [(name: String, value: String)]
        do throws(RequestTarget.Fault) {
            // A value without a name, as in `?=1`, is ignored.
            all = try target.parameters().filter { parameter in !parameter.name.isEmpty }
        } catch {
            throw APIError(.invalidRequest, "The query of the URL cannot be decoded.")
        }
        parameters = all.filter { parameter in declared.contains(parameter.name) }
        // Names are compared as bytes: Swift's `==` does not distinguish canonical equivalents.
        var seen: Set<[UInt8]> = []
        unknown = all.map(\.name).filter { name in
            !declared.contains(name) && seen.insert(Array(name.utf8)).inserted
        }
    }

    /// Whether the request has no declared parameter.
    var isEmpty: Bool { parameters.isEmpty }

    /// Returns the parameters of the page after an item.
    func starting(after id: String) -> [(name: String, value: String)] {
        parameters.filter { $0.name != "from_id" } + [("from_id", id)]
    }

    /// Returns all values of a parameter that may be repeated.
    func values(_ name: String) -> [String] {
        parameters.filter { $0.name == name }.map(\.value)
    }

    /// All parameters, in order.
    var all: [(name: String, value: String)] { parameters }

    subscript(name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// Whether the answer has the number of all items of the list.
    var isCounted: Bool { self["count"] == nil }

    /// Returns the size of a page: `largest` by default and at most.
    ///
    /// - Throws: `invalid` of a size or a `count` that is not allowed.
    func pageSize(atMost largest: Int) throws(Rejection) -> Int {
        _ = try isSet("count", to: "none", .listCount)
        let size = try count("page_size", .pageSize, from: 1, upTo: Int64(largest))
        return size.map { size in Int(size) } ?? largest
    }

    /// Returns the number in a parameter; a larger one than allowed is cut.
    func count(
        _ name: String, _ rule: ValidationRule, from least: Int64, upTo largest: Int64
    ) throws(Rejection) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let number = Self.number(text), number >= least else { throw .invalid(name, rule) }
        return min(number, largest)
    }

    /// Reads decimal digits; a number that does not fit becomes the largest one.
    static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text) ?? .max
    }

    /// Whether a parameter is present that has one allowed value.
    func isSet(
        _ name: String, to value: String, _ rule: ValidationRule
    ) throws(Rejection) -> Bool {
        guard let text = self[name] else { return false }
        guard text == value else { throw .invalid(name, rule) }
        return true
    }
}

/// The names of the query parameters that an endpoint declares.
struct QueryNames: Sendable {
    private let names: Set<String>
    private let parameters: [Parameter]

    /// - Parameter parameters: As the description of the endpoint lists them.
    init(_ parameters: [Parameter]) {
        self.parameters = parameters
        names = Set(parameters.filter { !$0.isPrefix }.map(\.name))
    }

    func contains(_ name: String) -> Bool {
        names.contains(name)
            || parameters.contains { parameter in
                parameter.isPrefix && name.utf8.starts(with: parameter.name.utf8)
            }
    }

    /// Returns the error of an unknown parameter (ruling 21).
    func error(unknown name: String) -> APIError {
        let list = parameters.map { parameter in
            parameter.isPrefix ? "`\(parameter.name)<name>`" : "`\(parameter.name)`"
        }
        let known = list.isEmpty ? "none" : "these: \(list.joined(separator: ", "))"
        return APIError(
            .invalidProperty,
            "\(name.quoted) is not a query parameter of this endpoint, which takes \(known).",
            data: .property(name))
    }
}

// Values of filters (X9).
extension Query {
    func bool(_ name: String) throws(Rejection) -> Bool? {
        switch self[name] {
        case nil: nil
        case "true": true
        case "false": false
        default: throw .invalid(name, .boolean)
        }
    }

    func time(_ name: String) throws(Rejection) -> Timestamp? {
        guard let text = self[name] else { return nil }
        guard let time = TimestampJSON.read(text) else { throw .invalid(name, .time) }
        return time
    }

    func user(_ name: String, _ version: APIVersion) throws(Rejection) -> UserID? {
        guard let text = self[name] else { return nil }
        guard let user = UserIDJSON.read(query: text, version) else {
            throw .invalid(name, .userFilter)
        }
        return user
    }

    /// Returns the event after which an object is shown; `nil` for its current state (ruling 27).
    ///
    /// - Throws: `invalid("as_of")` unless it consists of digits.
    func asOf() throws(Rejection) -> LogPosition? {
        guard let text = self["as_of"] else { return nil }
        guard let number = Self.number(text) else { throw .invalid("as_of", .logPosition) }
        return LogPosition(number)
    }
}

/// The query parameters of a list (platform-api §1.10).
struct PageQuery<Item>: Sendable {
    /// 1 to 100; larger values are cut.
    let size: Int
    /// The last item of the page before; `nil` for the first page.
    let after: Identifier<Item>?

    /// The number of items to read: one more than the page shows, so that the last page is known as the last (X5).
    var limit: Int { size + 1 }

    init(_ query: Query, _ collection: IdentifierJSON.Collection) throws(Rejection) {
        try self.init(query) { text in IdentifierJSON.read(text, in: collection) }
    }

    init(_ query: Query, _ read: (String) -> Identifier<Item>?) throws(Rejection) {
        size = try query.pageSize(atMost: 100)
        guard let text = query["from_id"] else {
            after = nil
            return
        }
        guard let id = read(text) else { throw .invalid("from_id", .pageStart) }
        after = id
    }
}

extension InlineContentPreference {
    /// The most media types of one request.
    static let maximumTypes = 32

    /// Reads `inline_max_size` and `inline_types` (X8); `nil` when both are missing.
    ///
    /// - Throws: `invalid` with the parameter's name.
    init?(_ query: Query) throws(Rejection) {
        let (size, types) = (query["inline_max_size"], query["inline_types"])
        guard size != nil || types != nil else { return nil }
        self.init(
            maxSize: try size.map(Self.size) ?? Int64(MessagePart.inlineLimit),
            types: try types.map(Self.types))
    }

    private static func size(_ text: String) throws(Rejection) -> Int64 {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let size = Int64(text), size <= sizeLimit
        else { throw .invalid("inline_max_size", .inlineSize) }
        return size
    }

    private static func types(_ text: String) throws(Rejection) -> [MediaRange] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        guard names.count <= maximumTypes else {
            throw .invalid("inline_types", .inlineTypeCount, .init(amount: names.count))
        }
        var ranges: [MediaRange] = []
        for name in names {
            guard let range = MediaRange(name.drop { $0 == " " }) else {
                throw .invalid("inline_types", .inlineTypes, .init(text: String(name)))
            }
            ranges.append(range)
        }
        return ranges
    }
}
