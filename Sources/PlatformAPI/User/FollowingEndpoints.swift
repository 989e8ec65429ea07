import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// Whom a user follows; 1.x never had it, and has it here as well (platform-api §5.8, §1.3).
    static let following = [
        Endpoint(
            .get, "/apps/{app}/users/{user}/following", "Lists whom a user follows.",
            isCompressed: true, .head { call in try await call.listFollowing() }
        ) { _ in
            Operation(
                "listFollowing", query: Parameter.pageOfUsers,
                answers: [.list(of: UserIDJSON.identitySchema)],
                example: Example(query: [("page_size", "20")]))
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/following", "Makes a user follow others.",
            .body { call, body in try await call.followAll(body) }
        ) { _ in
            Operation(
                "followAll", body: FollowingJSON.draftSchema, answers: [.accepted()],
                example: Example(body: #"["layer:///identities/cy"]"#))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/following/{followed}",
            "Says whether a user follows another.",
            .head { call in try await call.readFollowing() }
        ) { _ in
            Operation(
                "readFollowing", answers: [.noContent], example: Example(after: ["follow"]))
        },
        Endpoint(
            .put, "/apps/{app}/users/{user}/following/{followed}",
            "Makes a user follow another.", .head { call in try await call.follow() }
        ) { _ in
            Operation("follow", answers: [.noContent])
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/following/{followed}",
            "Makes a user follow another no more.",
            .head { call in try await call.unfollow() }
        ) { _ in
            Operation("unfollow", answers: [.noContent])
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/identities",
            "Lists the identities a user follows.", isCompressed: true,
            .head { call in try await call.listIdentities() }
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

    /// `POST /users/{f}/following`: done at once, answered as the original does.
    func followAll(_ body: JSONValue) async throws -> Reply {
        let users = try FollowingJSON.read(body.asArray())
        try await store.follow(users, by: user(), in: application)
        return Reply(.accepted)
    }

    /// `DELETE /users/{f}/following/{u}`: a conversation both are in still connects (ruling 19).
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
