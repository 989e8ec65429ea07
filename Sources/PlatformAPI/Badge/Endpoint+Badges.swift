import HTTP
import MessagingWire

extension Endpoint {
    /// What a user's devices show as unread (platform-api §5.10).
    static let badges = [
        Endpoint(
            .get, "/apps/{app}/users/{user}/badge", "Reads a user's badge.",
            .head { call in try await call.readBadge() }
        ) { _ in
            Operation("readBadge", answers: [.ok(BadgeJSON.schema, "The badge.")])
        },
        Endpoint(
            .put, "/apps/{app}/users/{user}/badge", "Sets the external count of a badge.",
            .body { call, body in try await call.setBadge(body) }
        ) { _ in
            Operation(
                "setBadge", body: BadgeJSON.draftSchema, answers: [.noContent],
                example: Example(body: #"{"external_unread_count":13}"#))
        },
        Endpoint(
            .patch, "/apps/{app}/users/{user}/badge", "Sets the external count by a patch.",
            .body { call, body in try await call.patchBadge(body) }
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
