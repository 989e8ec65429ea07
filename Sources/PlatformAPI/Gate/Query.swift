import HTTP
import Messaging
import MessagingWire

/// The query parameters of a request, those that its endpoint declares; of one that stands twice the first
/// counts.
struct Query: Sendable {
    private let parameters: [(name: String, value: String)]
    /// The names that the endpoint does not declare, each once, in order (ruling 21).
    let unknown: [String]

    /// No parameters at all.
    static let none = Query()

    private init() {
        parameters = []
        unknown = []
    }

    /// Reads the query of a URL.
    ///
    /// - Parameter declared: What the endpoint takes; all else is unknown.
    /// - Throws: 400 for a query that cannot be decoded, or with more than 256 parameters (H57, H61).
    init(_ target: RequestTarget, _ declared: QueryNames) throws(APIError) {
        let all: [(name: String, value: String)]
        do throws(RequestTarget.Fault) {
            // A value without a name, as in `?=1`, is no parameter.
            all = try target.parameters().filter { parameter in !parameter.name.isEmpty }
        } catch {
            throw APIError(.invalidRequest, "The query of the URL cannot be decoded.")
        }
        parameters = all.filter { parameter in declared.contains(parameter.name) }
        // Names are compared as bytes: Swift's `==` does not tell canonical equivalents apart.
        var seen: Set<[UInt8]> = []
        unknown = all.map(\.name).filter { name in
            !declared.contains(name) && seen.insert(Array(name.utf8)).inserted
        }
    }

    /// Whether the request has no declared parameter.
    var isEmpty: Bool { parameters.isEmpty }

    /// The same but for where a page starts.
    func starting(after id: String) -> [(name: String, value: String)] {
        parameters.filter { $0.name != "from_id" } + [("from_id", id)]
    }

    /// All values of one that may stand several times.
    func values(_ name: String) -> [String] {
        parameters.filter { $0.name == name }.map(\.value)
    }

    /// All of them, in order.
    var all: [(name: String, value: String)] { parameters }

    subscript(name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// How many items a page has; larger sizes are cut, and none means the largest.
    func pageSize(atMost largest: Int) throws(Rejection) -> Int {
        guard let text = self["page_size"] else { return largest }
        let digits = text.utf8
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .invalid("page_size", .pageSize)
        }
        // So many digits that they do not fit are a large page all the same.
        let size = Int(text) ?? largest
        guard size > 0 else { throw .invalid("page_size", .pageSize) }
        return min(size, largest)
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

    /// What an error says of an unknown parameter (ruling 21).
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
