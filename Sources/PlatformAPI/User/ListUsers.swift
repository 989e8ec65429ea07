import HTTP
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /users` (ruling 37).
    func listUsers() async throws -> Reply {
        let size = try query.pageSize(atMost: 100)
        let after = try query.user("from_id", version)
        let filter = try UserFilter(query)
        // One more than is shown, so that the last page is known as the last (X5).
        let found = try await store.users(
            matching: filter, after: after, limit: size + 1, in: application)
        let json = UserJSON.bytes(found.items.prefix(size), links)
        return try listing(json, of: found, size: size) { user in
            UserIDJSON.text(user.id, version)
        }
    }
}

extension UserFilter {
    /// Reads the filters of a list of users (X9).
    ///
    /// - Throws: `invalid` with the name of a parameter that has a bad value.
    fileprivate init(_ query: Query) throws(Rejection) {
        self.init()
        isSuspended = try query.truth("suspended")
        createdAfter = try query.time("created_after")
        createdBefore = try query.time("created_before")
        if let value = query["q"] {
            guard let text = SearchText(value) else { throw .invalid("q", .searchText) }
            self.text = text
        }
    }
}
