import HTTP
import MessagingWire

extension Endpoint {
    /// Users, their suspension and their sessions (platform-api §5.11).
    static let users = [
        Endpoint(
            .get, "/apps/{app}/users", "Lists the users of the application.",
            isCompressed: true, .head { call in try await call.listUsers() }
        ) { version in
            Operation(
                "listUsers",
                query: Parameter.page(from: UserIDJSON.namingSchema(version))
                    + Parameter.userFilters,
                answers: [.list(of: UserJSON.schema)], errors: [.notFound, .invalidOperation],
                example: Example(query: [("q", "AN")], after: ["createConversation"]))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}", "Reads a user.", isCompressed: true,
            .head { call in try await call.readUser() }
        ) { _ in
            Operation("readUser", answers: [.ok(UserJSON.schema, "The user.")])
        },
        Endpoint(
            .patch, "/apps/{app}/users/{user}", "Changes a user's blocks and suspension.",
            .body { call, body in try await call.patchUser(body) }
        ) { version in
            Operation(
                "patchUser", body: UserPatchJSON.schema(version), answers: [.accepted()],
                example: Example(
                    body: """
                        [{"operation":"add","property":"blocks",\
                        "\(version.namesIdentities ? "id" : "value")":\
                        \(Sample.name("cy", version))},\
                        {"operation":"set","property":"suspended","value":false}]
                        """))
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/sessions", "Ends all sessions of a user.",
            .head { call in try await call.endSessions() }
        ) { _ in
            Operation("endSessions", answers: [.noContent])
        },
    ]
}
