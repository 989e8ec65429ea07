import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// Users and their suspension (platform-api §5.11).
    static let users = [
        Endpoint(
            .get, "/apps/{app}/users", "Lists the users of the application.",
            isCompressed: true, .withoutBody { context in try await context.listUsers() }
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
            .withoutBody { context in try await context.readUser() }
        ) { _ in
            Operation("readUser", answers: [.ok(UserJSON.schema, "The user.")])
        },
        Endpoint(
            .patch, "/apps/{app}/users/{user}", "Changes a user's blocks and suspension.",
            .jsonBody { context, body in try await context.patchUser(body) }
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
    ]
}

extension RequestContext {
    /// `GET /users` (ruling 37).
    func listUsers() async throws -> Reply {
        let size = try query.pageSize(atMost: 100)
        let after = try query.user("from_id", version)
        let filter = try UserFilter(query)
        // One more than the page shows, so that the last page is known as the last (X5).
        let found = try await store.users(
            matching: filter, after: after, limit: size + 1, isCounted: query.isCounted,
            in: application)
        let json = UserJSON.bytes(found.items.prefix(size), links)
        return try listing(json, of: found, size: size) { user in
            UserIDJSON.text(user.id, version)
        }
    }
}

extension UserFilter {
    /// Reads the filters of a list of users (X9).
    ///
    /// - Throws: `invalid` with the name of the parameter whose value is not allowed.
    fileprivate init(_ query: Query) throws(Rejection) {
        self.init()
        isSuspended = try query.bool("suspended")
        createdAfter = try query.time("created_after")
        createdBefore = try query.time("created_before")
        if let value = query["q"] {
            guard let text = SearchText(value) else { throw .invalid("q", .searchText) }
            self.text = text
        }
    }
}

extension RequestContext {
    /// `GET /users/{u}` (platform-api §5.11).
    func readUser() async throws -> Reply {
        Reply(.ok, UserJSON.bytes(try await store.user(user(), in: application), links))
    }
}

extension RequestContext {
    /// `PATCH /users/{u}` (platform-api §5.9, §5.11): applied before the answer; the status is that of the original
    /// API.
    func patchUser(_ body: JSONValue) async throws -> Reply {
        let operations = try UserPatchJSON.read(body.asPatch(), version)
        try await store.patchUser(user(), operations, in: application)
        return Reply(.accepted)
    }
}
