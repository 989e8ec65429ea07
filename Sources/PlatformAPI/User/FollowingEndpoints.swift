import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// The users that a user follows; offered in all versions (platform-api §5.8, §1.3).
    static let following = [
        Endpoint(
            .get, "/apps/{app}/users/{user}/following", "Lists the users that a user follows.",
            isCompressed: true, .withoutBody { context in try await context.listFollowing() }
        ) { _ in
            Operation(
                "listFollowing", query: Parameter.pageOfUsers,
                answers: [.list(of: UserIDJSON.identitySchema)],
                example: Example(query: [("page_size", "20")]))
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/following", "Follows several users.",
            .jsonBody { context, body in try await context.followAll(body) }
        ) { _ in
            Operation(
                "followAll", body: FollowingJSON.draftSchema, answers: [.accepted()],
                example: Example(body: #"["layer:///identities/cy"]"#))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/following/{followed}",
            "Reports whether a user follows another.",
            .withoutBody { context in try await context.readFollowing() }
        ) { _ in
            Operation(
                "readFollowing", answers: [.noContent], example: Example(after: ["follow"]))
        },
        Endpoint(
            .put, "/apps/{app}/users/{user}/following/{followed}",
            "Follows a user.", .withoutBody { context in try await context.follow() }
        ) { _ in
            Operation("follow", answers: [.noContent])
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/following/{followed}",
            "Unfollows a user.",
            .withoutBody { context in try await context.unfollow() }
        ) { _ in
            Operation("unfollow", answers: [.noContent])
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/identities",
            "Lists the identities a user follows.", isCompressed: true,
            .withoutBody { context in try await context.listIdentities() }
        ) { _ in
            Operation(
                "listIdentities", query: Parameter.pageOfUsers,
                answers: [.list(of: IdentityJSON.schema)],
                example: Example(query: [("page_size", "20")]))
        },
    ]
}

extension RequestContext {
    /// `PUT /users/{f}/following/{u}` (platform-api §5.8).
    func follow() async throws -> Reply {
        try await store.follow([followed()], by: user(), in: application)
        return .noContent
    }

    /// `POST /users/{f}/following`: applied before the answer; the status is that of the original API.
    func followAll(_ body: JSONValue) async throws -> Reply {
        let users = try FollowingJSON.read(body.asArray())
        try await store.follow(users, by: user(), in: application)
        return Reply(.accepted)
    }

    /// `DELETE /users/{f}/following/{u}`: the user stays followed while both are in a conversation (ruling 19).
    func unfollow() async throws -> Reply {
        try await store.unfollow(followed(), by: user(), in: application)
        return .noContent
    }

    /// `GET /users/{f}/following/{u}`.
    func readFollowing() async throws -> Reply {
        guard try await store.isFollowing(followed(), by: user(), in: application) else {
            throw Rejection.notFound(.identity)
        }
        return .noContent
    }

    private func followed() throws(Rejection) -> UserID {
        guard let user = parameters["followed"].flatMap({ UserID($0) }) else {
            throw .notFound(.identity)
        }
        return user
    }
}

extension RequestContext {
    /// `GET /users/{f}/following` (platform-api §5.8).
    func listFollowing() async throws -> Reply {
        let page = try FollowingQuery(query)
        let found = try await store.following(
            of: user(), after: page.after, limit: page.limit, isCounted: query.isCounted,
            in: application)
        let users = Array(found.items.prefix(page.size))
        return try listing(FollowingJSON.bytes(users), of: found, size: page.size) { user in
            UserIDJSON.text(user, .v3_0)
        }
    }

    /// `GET /users/{f}/identities`.
    func listIdentities() async throws -> Reply {
        let page = try FollowingQuery(query)
        let found = try await store.followedUsers(
            of: user(), after: page.after, limit: page.limit, isCounted: query.isCounted,
            in: application)
        let users = Array(found.items.prefix(page.size))
        return try listing(FollowingJSON.bytes(users, links), of: found, size: page.size) { user in
            UserIDJSON.text(user.id, .v3_0)
        }
    }
}

/// The query parameters of a list of users (platform-api §1.10).
private struct FollowingQuery {
    /// 1 to 500; larger values are cut.
    let size: Int
    /// The last user of the page before; `nil` for the first page.
    let after: UserID?

    /// The number of users to read: one more than the page shows, so that the last page is known as the last (X5).
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
