import Bytes
import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// The services that issue identity tokens, and their keys (X14).
    static let providers = [
        Endpoint(
            .post, "/apps/{app}/providers", "Creates a provider of identity tokens.",
            scope: .admin, .jsonBody { context, body in try await context.createProvider(body) }
        ) { _ in
            Operation(
                "createProvider", body: ProviderJSON.draftSchema,
                answers: [.created(ProviderJSON.schema)], errors: [.invalidOperation],
                example: Example(body: #"{"name":"Login"}"#))
        },
        Endpoint(
            .get, "/apps/{app}/providers", "Lists the providers of identity tokens, oldest first.",
            .withoutBody { context in try await context.listProviders() }
        ) { _ in
            Operation(
                "listProviders",
                answers: [.ok(.array(of: ProviderJSON.schema), "All providers.")],
                example: Example(after: ["createProvider"]))
        },
        Endpoint(
            .get, "/apps/{app}/providers/{provider}", "Reads a provider and its keys.",
            .withoutBody { context in try await context.readProvider() }
        ) { _ in
            Operation("readProvider", answers: [.ok(ProviderJSON.schema, "The provider.")])
        },
        Endpoint(
            .delete, "/apps/{app}/providers/{provider}",
            "Deletes a provider and its keys; sessions continue.", scope: .admin,
            .withoutBody { context in try await context.deleteProvider() }
        ) { _ in
            Operation("deleteProvider", answers: [.noContent])
        },
        Endpoint(
            .post, "/apps/{app}/providers/{provider}/keys", "Adds a public key to a provider.",
            scope: .admin,
            .jsonBody { context, body in try await context.createProviderKey(body) }
        ) { _ in
            Operation(
                "createProviderKey", body: ProviderJSON.keyDraftSchema,
                answers: [.created(ProviderJSON.keySchema)], errors: [.invalidOperation],
                example: Example(body: "{\"public_key\":\"\(Sample.signingKey)\"}"))
        },
        Endpoint(
            .patch, "/apps/{app}/providers/{provider}/keys/{key}", "Disables or enables a key.",
            scope: .admin,
            .jsonBody { context, body in try await context.patchProviderKey(body) }
        ) { _ in
            Operation(
                "patchProviderKey", body: ProviderJSON.keyPatchSchema, fields: [.prefer],
                answers: [
                    .noContent,
                    .ok(
                        ProviderJSON.keySchema, "The key, for `Prefer: return=representation`.",
                        [.applied]),
                ],
                example: Example(
                    body: #"[{"operation":"set","property":"disabled","value":true}]"#))
        },
        Endpoint(
            .delete, "/apps/{app}/providers/{provider}/keys/{key}",
            "Deletes a key; sessions continue.", scope: .admin,
            .withoutBody { context in try await context.deleteProviderKey() }
        ) { _ in
            Operation("deleteProviderKey", answers: [.noContent])
        },
    ]
}

extension Sample {
    /// An Ed25519 public key as a JSON string without quotes; its private key was discarded.
    static let signingKey = [
        "-----BEGIN PUBLIC KEY-----",
        "MCowBQYDK2VwAyEAb8xNFm6DOdfDOyHnYCEc4wKK3kHVKmNeiqJoQaTqD+E=",
        "-----END PUBLIC KEY-----",
    ].map { line in line + #"\n"# }.joined()
}

extension RequestContext {
    /// `POST /providers` (X14).
    func createProvider(_ body: JSONValue) async throws -> Reply {
        let name = try ProviderJSON.readName(body.asObject())
        return Reply(
            .created,
            ProviderJSON.bytes(try await store.createProvider(name: name, in: application)))
    }

    /// `GET /providers` (X14): all of them, of which there are few.
    func listProviders() async throws -> Reply {
        Reply(.ok, ProviderJSON.bytes(try await store.providers(in: application)))
    }

    /// `GET /providers/{provider}` (X14).
    func readProvider() async throws -> Reply {
        Reply(.ok, ProviderJSON.bytes(try await store.provider(provider(), in: application)))
    }

    /// `DELETE /providers/{provider}` (X14).
    func deleteProvider() async throws -> Reply {
        try await store.deleteProvider(provider(), in: application)
        return .noContent
    }

    private func provider() throws(Rejection) -> Provider.ID {
        guard let id = parameters["provider"].flatMap({ Provider.ID(uuid: $0) }) else {
            throw .notFound(.provider)
        }
        return id
    }

    private func providerKey() throws(Rejection) -> ProviderKey.ID {
        guard let id = parameters["key"].flatMap({ ProviderKey.ID(uuid: $0) }) else {
            throw .notFound(.providerKey)
        }
        return id
    }
}

extension RequestContext {
    /// `POST /providers/{provider}/keys` (X14).
    func createProviderKey(_ body: JSONValue) async throws -> Reply {
        guard let key = PublicKey(pem: try ProviderJSON.readKey(body.asObject())) else {
            throw Rejection.invalid("public_key", .providerKeyText)
        }
        let created = try await store.createProviderKey(
            key.algorithm, der: key.der, of: provider(), in: application)
        return Reply(.created, ProviderJSON.bytes(created))
    }

    /// `PATCH /providers/{provider}/keys/{key}` (X14).
    func patchProviderKey(_ body: JSONValue) async throws -> Reply {
        let isDisabled = try ProviderJSON.readKeyPatch(
            body.kind == .object ? body : body.asPatch())
        let key = try await store.updateProviderKey(
            providerKey(), isDisabled: isDisabled, of: provider(), in: application)
        return patchReply { ProviderJSON.bytes(key) }
    }

    /// `DELETE /providers/{provider}/keys/{key}` (X14).
    func deleteProviderKey() async throws -> Reply {
        try await store.deleteProviderKey(providerKey(), of: provider(), in: application)
        return .noContent
    }
}

extension PublicKey {
    /// The algorithm of identity tokens that the key verifies.
    var algorithm: ProviderKey.Algorithm {
        switch kind {
        case .rsa: .rs256
        case .p256: .es256
        case .ed25519: .edDSA
        }
    }
}
