import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// The unread counts that a user's devices show (platform-api §5.10).
    static let badges = [
        Endpoint(
            .get, "/apps/{app}/users/{user}/badge", "Reads a user's badge.",
            .withoutBody { context in try await context.readBadge() }
        ) { _ in
            Operation("readBadge", answers: [.ok(BadgeJSON.schema, "The badge.")])
        },
        Endpoint(
            .put, "/apps/{app}/users/{user}/badge", "Sets the external count of a badge.",
            .jsonBody { context, body in try await context.setBadge(body) }
        ) { _ in
            Operation(
                "setBadge", body: BadgeJSON.draftSchema, answers: [.noContent],
                example: Example(body: #"{"external_unread_count":13}"#))
        },
        Endpoint(
            .patch, "/apps/{app}/users/{user}/badge",
            "Sets the external count of a badge by a patch.",
            .jsonBody { context, body in try await context.patchBadge(body) }
        ) { _ in
            Operation(
                "patchBadge", body: BadgePatchJSON.schema, answers: [.noContent],
                example: Example(
                    body: """
                        [{"operation":"set","property":"external_unread_count","value":13}]
                        """))
        },
    ]
}

extension RequestContext {
    /// `GET /users/{u}/badge` (platform-api §5.10).
    func readBadge() async throws -> Reply {
        Reply(.ok, BadgeJSON.bytes(try await store.badge(of: user(), in: application)))
    }
}

extension RequestContext {
    /// `PUT /users/{u}/badge`.
    func setBadge(_ body: JSONValue) async throws -> Reply {
        let count = try BadgeJSON.read(body.asObject())
        try await store.setBadge(of: user(), externalUnreadCount: count, in: application)
        return .noContent
    }

    /// `PATCH /users/{u}/badge`: a patch without operations only checks that the user exists.
    func patchBadge(_ body: JSONValue) async throws -> Reply {
        guard let count = try BadgePatchJSON.read(body.asPatch()) else {
            _ = try await store.user(user(), in: application)
            return .noContent
        }
        try await store.setBadge(of: user(), externalUnreadCount: count, in: application)
        return .noContent
    }
}
