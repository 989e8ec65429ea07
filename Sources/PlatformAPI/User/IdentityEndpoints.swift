import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// The identities of users (platform-api §5.7).
    static let identities = [
        Endpoint(
            .post, "/apps/{app}/users/{user}/identity", "Creates a user's identity.",
            .jsonBody { context, body in try await context.createIdentity(body) }
        ) { _ in
            Operation(
                "createIdentity", body: IdentityJSON.draftSchema, answers: [.created(nil, [.tag])],
                errors: [.idInUse],
                example: Example(
                    body: #"{"display_name":"Bo","metadata":{"team":"blue"}}"#))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/identity", "Reads a user's identity.",
            isCompressed: true, .withoutBody { context in try await context.readIdentity() }
        ) { _ in
            Operation(
                "readIdentity", fields: [.ifNoneMatch],
                answers: [.ok(IdentityJSON.schema, "The identity.", [.tag]), .notModified])
        },
        Endpoint(
            .patch, "/apps/{app}/users/{user}/identity", "Sets members of an identity.",
            .jsonBody { context, body in try await context.patchIdentity(body) }
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
            .jsonBody { context, body in try await context.replaceIdentity(body) }
        ) { _ in
            Operation(
                "replaceIdentity", body: IdentityJSON.draftSchema, fields: [.ifMatch],
                answers: [.noContent([.tag])],
                example: Example(body: #"{"display_name":"Bo","identity_type":"bot"}"#))
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/identity", "Deletes a user's identity.",
            .withoutBody { context in try await context.deleteIdentity() }
        ) { _ in
            Operation("deleteIdentity", fields: [.ifMatch], answers: [.noContent])
        },
    ]
}

extension RequestContext {
    /// `POST /users/{u}/identity` (platform-api §5.7).
    func createIdentity(_ body: JSONValue) async throws -> Reply {
        let identity = try identity(in: body)
        switch try await store.createIdentity(identity, in: application) {
        case .idInUse(let user):
            return APIError(
                .idInUse, "The requested Identity already exists", data: .object(json(user))
            ).reply(publicBase: publicBase)
        case .created(let user), .matched(let user), .replayed(let user), .conflict(let user):
            return Reply(.created).addingETag(user.identityVersion)
        }
    }

    /// `PUT /users/{u}/identity`: members left out become `null`.
    func replaceIdentity(_ body: JSONValue) async throws -> Reply {
        try await withPrecondition { (user: User) in
            json(user)
        } change: { precondition in
            let user = try await store.replaceIdentity(
                identity(in: body), if: precondition, in: application)
            return .noContent.addingETag(user.identityVersion)
        }
    }

    private func identity(in body: JSONValue) throws -> Identity {
        let object = try body.asObject()
        return try IdentityJSON.read(object, of: user())
    }

    /// An identity as the system sees it.
    func json(_ user: User) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        IdentityJSON.write(user.identity, links, into: &writer)
        return writer.finish()
    }
}

extension RequestContext {
    /// `GET /users/{u}/identity` (platform-api §5.7), and `GET /identities/{u}` for the user of a session
    /// (client-api §4.6).
    func readIdentity() async throws -> Reply {
        let found = try await store.identity(of: identifiedUser(), in: application)
        return conditionalReply(found.identityVersion) { Reply(.ok, json(found)) }
    }
}

extension RequestContext {
    /// The user whose identity the path names.
    private func identifiedUser() throws(Rejection) -> UserID {
        guard let name = parameters["identity"] else { return try user() }
        guard let user = UserID(name) else { throw .notFound(.identity) }
        return user
    }
}

extension RequestContext {
    /// `PATCH /users/{u}/identity` (platform-api §5.7): all operations, or none.
    func patchIdentity(_ body: JSONValue) async throws -> Reply {
        try await withPrecondition { (user: User) in
            json(user)
        } change: { precondition in
            let operations = try IdentityPatchJSON.read(body.asPatch())
            let found = try await store.patchIdentity(
                of: user(), operations, if: precondition, in: application)
            return patchReply { json(found) }.addingETag(found.identityVersion)
        }
    }
}

extension RequestContext {
    /// `DELETE /users/{u}/identity` (platform-api §5.7): the user remains, without an identity.
    func deleteIdentity() async throws -> Reply {
        try await withPrecondition { (user: User) in
            json(user)
        } change: { precondition in
            try await store.deleteIdentity(of: user(), if: precondition, in: application)
            return .noContent
        }
    }
}
