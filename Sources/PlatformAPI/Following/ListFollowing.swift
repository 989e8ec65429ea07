import HTTP
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /users/{f}/following` (platform-api §5.8).
    func listFollowing() async throws -> Reply {
        let page = try FollowingQuery(query)
        let found = try await store.following(
            of: user(), after: page.after, limit: page.limit, in: application)
        let shown = Array(found.items.prefix(page.size))
        return try listing(FollowingJSON.bytes(shown), of: found, size: page.size) { user in
            UserIDJSON.text(user, .v3_0)
        }
    }

    /// `GET /users/{f}/identities`.
    func listIdentities() async throws -> Reply {
        let page = try FollowingQuery(query)
        let found = try await store.followedUsers(
            of: user(), after: page.after, limit: page.limit, in: application)
        let shown = Array(found.items.prefix(page.size))
        return try listing(FollowingJSON.bytes(shown, links), of: found, size: page.size) { user in
            UserIDJSON.text(user.id, .v3_0)
        }
    }
}

/// The query parameters of a list of users (platform-api §1.10).
private struct FollowingQuery {
    /// 1 to 500; larger values are cut.
    let size: Int
    /// Whom the page starts after; `nil` for the first page.
    let after: UserID?

    /// One more than is shown, so that the last page is known as the last (X5).
    var limit: Int { size + 1 }

    init(_ query: Query) throws(Rejection) {
        size = try query.pageSize(atMost: 500)
        after = try query["from_id"].map { text throws(Rejection) in
            guard let user = FollowingJSON.user(text) else {
                throw .invalid("from_id", .pageStartUser)
            }
            return user
        }
    }
}
