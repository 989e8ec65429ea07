import HTTP
import MessagingWire

extension Endpoint {
    /// What the application tells about users (platform-api §5.7).
    static let identities = [
        Endpoint(
            .post, "/apps/{app}/users/{user}/identity", "Creates a user's identity.",
            .body { call, body in try await call.createIdentity(body) }
        ) { _ in
            Operation(
                "createIdentity", body: IdentityJSON.draftSchema, answers: [.created(nil, [.tag])],
                errors: [.idInUse],
                example: Example(
                    body: #"{"display_name":"Bo","metadata":{"team":"blue"}}"#))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/identity", "Reads a user's identity.",
            isCompressed: true, .head { call in try await call.readIdentity() }
        ) { _ in
            Operation(
                "readIdentity", fields: [.ifNoneMatch],
                answers: [.ok(IdentityJSON.schema, "The identity.", [.tag]), .notModified])
        },
        Endpoint(
            .patch, "/apps/{app}/users/{user}/identity", "Sets members of an identity.",
            .body { call, body in try await call.patchIdentity(body) }
        ) { _ in
            Operation(
                "patchIdentity", body: IdentityPatchJSON.schema, fields: [.ifMatch, .prefer],
                answers: [.noContent([.tag]), .represented(IdentityJSON.schema)],
                example: Example(
                    body: """
                        [{"operation":"set","property":"first_name","value":"Bo"},\
                        {"operation":"set","property":"metadata.team","value":"red"}]
                        """))
        },
        Endpoint(
            .put, "/apps/{app}/users/{user}/identity", "Replaces a user's identity.",
            .body { call, body in try await call.replaceIdentity(body) }
        ) { _ in
            Operation(
                "replaceIdentity", body: IdentityJSON.draftSchema, fields: [.ifMatch],
                answers: [.noContent([.tag])],
                example: Example(body: #"{"display_name":"Bo","identity_type":"bot"}"#))
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/identity", "Deletes a user's identity.",
            .head { call in try await call.deleteIdentity() }
        ) { _ in
            Operation("deleteIdentity", fields: [.ifMatch], answers: [.noContent])
        },
    ]
}
