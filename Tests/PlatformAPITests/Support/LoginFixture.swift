import Bytes
import JSON
import Messaging
import MessagingStore
import TestSupport

@testable import PlatformAPI

/// An application with a provider, whose key signs identity tokens, and requests of its users.
struct LoginFixture: Sendable {
    let sample: SampleApplication
    let client: any TestClient
    let provider: Provider.ID
    let key: ProviderKey.ID
    let signer: SigningKey

    /// The keys of all tests: making one takes up to a second.
    private static let signers = Dictionary(
        uniqueKeysWithValues: SigningKey.Kind.allCases.map { kind in (kind, SigningKey(kind)) })

    /// The server of most of these tests: others advance the clock of the shared one, so that nonces expire.
    private static let opening = Task { try await TestServer.separate() }

    static func signer(_ kind: SigningKey.Kind) -> SigningKey {
        signers[kind] ?? SigningKey(kind)
    }

    static func make(
        _ kind: SigningKey.Kind = .ed25519, version: String = "3.0", in server: TestServer? = nil
    ) async throws -> LoginFixture {
        let server = if let server { server } else { try await Self.opening.value }
        let sample = try await SampleApplication.make(version: version, in: server)
        let store = sample.server.store
        let provider = try await store.createProvider(name: "Login", in: sample.application)
        let signer = signer(kind)
        let parsed = PublicKey(pem: signer.publicPEM)
        let key = try await store.createProviderKey(
            parsed?.algorithm ?? .rs256, der: parsed?.der ?? [], of: provider.id,
            in: sample.application)
        return LoginFixture(
            sample: sample, client: SocketClient(port: sample.server.port), provider: provider.id,
            key: key.id, signer: signer)
    }

    /// A new application with the variables of exchanges of the Client API: session tokens of three of its users and of a user
    /// of another application, and identity tokens.
    static func exchanges(
        version: String, in server: TestServer? = nil
    ) async throws -> SampleApplication {
        let login = try await make(version: version, in: server)
        var sample = login.sample
        let other = sample.variables["other_app"].flatMap { id in Application.ID(uuid: id) }
        for (name, user, application) in [
            ("ana", "Ana", sample.application), ("bo", "Bo", sample.application),
            ("cy", "Cy", sample.application), ("foreign", "Fay", other),
        ] {
            guard let id = UserID(user.lowercased()), let application else { continue }
            sample.variables["\(name)_session"] = try await login.store.beginLastingSession(
                of: id, named: user, in: application)
        }
        let unknownKey = "\"layer:///keys/00000000-0000-4000-8000-000000000000\""
        let valid = try await login.token(of: "dee", claims: ["display_name": "\"Dee\""])
        sample.variables.merge([
            "identity_token": valid,
            "expired_identity_token": try await login.token(claims: ["exp": "1"]),
            "unsigned_identity_token": try await login.token(header: ["alg": "\"none\""]),
            "unknown_key_identity_token": try await login.token(header: ["kid": unknownKey]),
            // The signature of another token.
            "forged_identity_token": try await login.token(of: "eve").split(separator: ".")
                .dropLast()
                .joined(separator: ".") + valid.suffix(87),
        ]) { _, new in new }
        return sample
    }

    /// Adds a key of the provider, with the public key of the same signer.
    func newKey() async throws -> ProviderKey.ID {
        let parsed = PublicKey(pem: signer.publicPEM)
        return try await store.createProviderKey(
            parsed?.algorithm ?? .rs256, der: parsed?.der ?? [], of: provider,
            in: sample.application
        ).id
    }

    /// Another provider of the application, which has no keys.
    func otherProvider() async throws -> Provider.ID {
        try await store.createProvider(name: "Other", in: sample.application).id
    }

    var store: MessagingStore { sample.server.store }

    /// The current time of the server in seconds.
    var now: Int64 { sample.server.clock.now().milliseconds / 1000 }

    /// The header of a valid token.
    var header: [String: String] {
        let algorithm =
            switch signer.kind {
            case .rsa, .smallRSA: "RS256"
            case .p256, .p384: "ES256"
            case .ed25519: "EdDSA"
            }
        return [
            "typ": "\"JWT\"", "alg": "\"\(algorithm)\"", "cty": "\"layer-eit;v=1\"",
            "kid": "\"layer:///keys/\(key.uuid)\"",
        ]
    }

    /// The claims of a valid token of a user, as JSON texts.
    func claims(of user: String, nonce: String) -> [String: String] {
        [
            "iss": "\"layer:///providers/\(provider.uuid)\"", "prn": "\"\(user)\"",
            "iat": "\(now)", "exp": "\(now + 600)", "nce": "\"\(nonce)\"",
        ]
    }

    /// A signed token; a `nil` value removes a member.
    func token(
        of user: String = "ana", header changedHeader: [String: String?] = [:],
        claims changedClaims: [String: String?] = [:], nonce: String? = nil
    ) async throws -> String {
        let nonce = if let nonce { nonce } else { try await store.newNonce() }
        let header = header.merging(changedHeader.compactMapValues(\.self)) { _, new in new }
            .filter { name, _ in changedHeader[name] != .some(nil) }
        let claims = claims(of: user, nonce: nonce)
            .merging(changedClaims.compactMapValues(\.self)) { _, new in new }
            .filter { name, _ in changedClaims[name] != .some(nil) }
        return signed(Self.object(header), Self.object(claims))
    }

    /// The compact serialisation of two texts with their signature.
    func signed(_ header: String, _ claims: String) -> String {
        let content =
            "\(Base64.encodeForURL(Array(header.utf8))).\(Base64.encodeForURL(Array(claims.utf8)))"
        return "\(content).\(Base64.encodeForURL(signer.sign(Array(content.utf8))))"
    }

    static func object(_ members: [String: String]) -> String {
        "{" + members.map { name, value in "\"\(name)\":\(value)" }.joined(separator: ",") + "}"
    }

    /// Sends `POST /sessions` with an identity token.
    func logIn(_ token: String) async throws -> PlainAnswer {
        try await send(
            "POST", "/sessions",
            """
            {"identity_token":"\(token)","app_id":"layer:///apps/production/\(sample.application.uuid)"}
            """)
    }

    /// The session token of a new session.
    func session(of user: String = "ana") async throws -> String {
        let answer = try await logIn(token(of: user))
        let root = try JSONDocument(Array(answer.body.utf8)).root
        return root["session_token"]?.string ?? ""
    }

    /// Sends a request, with a session token if there is one.
    func send(
        _ method: String, _ target: String, _ body: String = "", session: String? = nil,
        fields: [(name: String, value: String)] = [], accept: String? = nil
    ) async throws -> PlainAnswer {
        let version = sample.variables["version"] ?? ""
        var all = [
            (name: "Accept", value: accept ?? "application/vnd.layer+json; version=\(version)")
        ]
        if let session { all.append(("Authorization", "Layer session-token=\"\(session)\"")) }
        if method == "PATCH" { all.append(("Content-Type", "application/vnd.layer-patch+json")) }
        return try await client.send(
            PlainRequest(method: method, target: target, fields: all + fields, body: body))
    }

    /// Sends a request with the application's token.
    func sendAsServer(
        _ method: String, _ target: String, _ body: String = ""
    ) async throws -> PlainAnswer {
        let fields =
            method == "PATCH"
            ? [(name: "Content-Type", value: "application/vnd.layer-patch+json")] : []
        return try await sample.send(method, target, body, fields: fields, by: client)
    }
}

extension PlainAnswer {
    /// The parsed body.
    var json: JSONValue? { (try? JSONDocument(Array(body.utf8)))?.root }

    /// `data.reason` of an error.
    var reason: String? { json?["data"]?["reason"]?.string }

    /// `data.nonce` of an error.
    var nonce: String? { json?["data"]?["nonce"]?.string }
}
