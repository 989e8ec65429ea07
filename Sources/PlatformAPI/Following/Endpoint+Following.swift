import HTTP
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
