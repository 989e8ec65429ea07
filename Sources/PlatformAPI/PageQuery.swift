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
        guard let id = read(text) else { throw .invalid("from_id", .pageStart) }
        after = id
    }
}
