import HTTP
import Messaging
import MessagingWire

/// The query parameters of a list (platform-api §1.10).
struct PageQuery<Item>: Sendable {
    /// 1 to 100; larger values are cut.
    let size: Int
    /// The item after which the page starts; `nil` for the first page.
    let after: Identifier<Item>?

    /// One more than is shown, so that the last page is known as the last (X5).
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
        guard let id = read(text) else { throw .invalid("from_id") }
        after = id
    }
}

/// The parameters behind the `?`; of one that stands twice the first counts.
struct Query: Sendable {
    private let parameters: [(name: String, value: String)]

    init(_ target: RequestTarget) throws(APIError) {
        do throws(RequestTarget.Fault) {
            parameters = try target.parameters()
        } catch {
            throw APIError(.invalidRequest, "The query of the URL cannot be decoded.")
        }
    }

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

    /// What every list knows.
    static let pageNames: Set = ["page_size", "from_id"]

    /// How many items a page has; larger wishes are cut, and none means the largest.
    func pageSize(atMost largest: Int) throws(Rejection) -> Int {
        guard let text = self["page_size"] else { return largest }
        let digits = text.utf8
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .invalid("page_size")
        }
        // So many digits that they do not fit are a large page all the same.
        let size = Int(text) ?? largest
        guard size > 0 else { throw .invalid("page_size") }
        return min(size, largest)
    }
}
