import Bytes
import HTTP
import JSON
import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore
@testable import PlatformAPI

@Suite struct `Identity tokens` {
    @Test(arguments: [SigningKey.Kind.rsa, .p256, .ed25519])
    func `of RS256, ES256 and EdDSA begin a session (X14, 2.2, 2.3, ruling 46)`(
        kind: SigningKey.Kind
    ) async throws {
        let login = try await LoginFixture.make(kind)
        let answer = try await login.logIn(login.token())
        #expect(answer.status == 201, "\(answer.body)")
        let token = try #require(answer.json?["session_token"]?.string)
        #expect(token.count == 43)
        #expect(
            token.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        #expect(
            answer["Link"]
                == """
                <https://chat.example.com/conversations>; rel=conversations, \
                <https://chat.example.com/content>; rel=content, \
                <wss://chat.example.com/websocket>; rel=websocket
                """)
        #expect(try await login.send("GET", "/conversations", session: token).status == 200)
    }

    @Test(arguments: [SigningKey.Kind.smallRSA, .p384])
    func `cannot be signed with small RSA keys or other curves (X14)`(
        kind: SigningKey.Kind
    ) async throws {
        let login = try await LoginFixture.make()
        let pem = LoginFixture.signer(kind).publicPEM.replacing("\n", with: "\\n")
        let answer = try await login.sendAsServer(
            "POST", "/apps/{app}/providers/\(login.provider.uuid)/keys",
            #"{"public_key":"\#(pem)"}"#)
        #expect(answer.status == 422)
        #expect(answer.json?["data"]?["property"]?.string == "public_key")
    }

    /// A change of the header or the claims, and the diagnostic of the token.
    struct Change: Sendable, CustomTestStringConvertible {
        let reason: String
        var header: [String: String?] = [:]
        var claims: [String: String?] = [:]

        var testDescription: String { "\(reason) \(header) \(claims)" }
    }

    private static let changedHeaders: [Change] = ["typ", "alg", "cty", "kid"].flatMap {
        name -> [Change] in
        [
            Change(reason: "eit_header_param_not_found", header: [name: nil]),
            Change(reason: "eit_header_param_not_found", header: [name: "null"]),
            Change(reason: "eit_header_param_wrong_type", header: [name: "5"]),
        ]
    }

    private static let changedClaims: [Change] = ["iss", "prn", "iat", "exp", "nce"].flatMap {
        name -> [Change] in
        [
            Change(reason: "eit_claim_not_found", claims: [name: nil]),
            Change(reason: "eit_claim_not_found", claims: [name: "null"]),
            Change(reason: "eit_claim_wrong_type", claims: [name: "[]"]),
            Change(reason: "eit_claim_wrong_type", claims: [name: "1.5"]),
            Change(reason: "eit_claim_wrong_type", claims: [name: "true"]),
        ]
    }

    private static let values: [Change] = [
        Change(reason: "eit_header_param_wrong_value", header: ["typ": "\"jwt\""]),
        Change(reason: "eit_header_param_wrong_value", header: ["alg": "\"none\""]),
        Change(reason: "eit_header_param_wrong_value", header: ["alg": "\"HS256\""]),
        Change(reason: "eit_header_param_wrong_value", header: ["alg": "\"rs256\""]),
        Change(reason: "eit_header_param_wrong_value", header: ["cty": "\"layer-eit;v=2\""]),
        Change(reason: "eit_signature_verification_failed", header: ["alg": "\"RS256\""]),
        Change(reason: "eit_key_malformed", header: ["kid": "\"mine\""]),
        Change(reason: "eit_key_malformed", header: ["kid": "\"\""]),
        Change(
            reason: "eit_key_not_found",
            header: ["kid": "\"layer:///keys/00000000-0000-4000-8000-000000000000\""]),
        Change(reason: "eit_claim_wrong_type", claims: ["prn": "\"\""]),
        Change(reason: "eit_claim_wrong_type", claims: ["prn": "\"..\""]),
        Change(reason: "eit_claim_wrong_type", claims: ["prn": "\"a\\u0000b\""]),
        Change(
            reason: "eit_claim_wrong_type",
            claims: ["prn": "\"\(String(repeating: "x", count: 129))\""]),
        Change(reason: "eit_claim_wrong_type", claims: ["exp": "\"1900000000\""]),
        Change(reason: "eit_claim_wrong_type", claims: ["exp": "9223372036854775808"]),
        Change(reason: "eit_claim_wrong_type", claims: ["display_name": "5"]),
        Change(reason: "eit_claim_wrong_type", claims: ["display_name": "\"\""]),
        Change(reason: "eit_claim_wrong_type", claims: ["metadata": "{\"a\":{}}"]),
        Change(reason: "eit_claim_wrong_type", claims: ["metadata": "[]"]),
        Change(reason: "eit_provider_not_found", claims: ["iss": "\"login\""]),
        Change(
            reason: "eit_provider_not_found",
            claims: ["iss": "\"layer:///providers/00000000-0000-4000-8000-000000000000\""]),
        Change(reason: "eit_expired", claims: ["exp": "0"]),
        Change(reason: "eit_expired", claims: ["exp": "-9223372036854775808"]),
        Change(reason: "eit_not_before", claims: ["iat": "9223372036854775807"]),
        Change(reason: "eit_nonce_not_found", claims: ["nce": "\"\""]),
        Change(reason: "eit_nonce_not_found", claims: ["nce": "\"b3f0c1\""]),
        Change(
            reason: "eit_nonce_not_found",
            claims: ["nce": "\"\(String(repeating: "A", count: 100_000))\""]),
    ]

    static let changes: [Change] = changedHeaders + changedClaims + values

    @Test(arguments: changes)
    func `are rejected with the diagnostic of the first failed check (2.2)`(
        change: Change
    ) async throws {
        let login = try await LoginFixture.make()
        let events = try await login.sample.eventCount()
        let answer = try await login.logIn(
            login.token(header: change.header, claims: change.claims))
        #expect(answer.status == 422, "\(answer.body)")
        #expect(answer.json?["code"]?.integer == 105)
        #expect(answer.json?["data"]?["property"]?.string == "identity_token")
        #expect(answer.reason == change.reason)
        #expect(try await login.sample.eventCount() == events)
    }

    @Test func `with every fault are fixed one fault at a time, in the order of the checks (2.2)`()
        async throws
    {
        let login = try await LoginFixture.make()
        let (other, foreign) = (try await login.otherProvider(), try await LoginFixture.make())
        let path = "/apps/{app}/providers/\(login.provider.uuid)/keys"
        let (deleted, disabled) = (try await login.newKey(), try await login.newKey())
        #expect(try await login.sendAsServer("DELETE", "\(path)/\(deleted.uuid)").status == 204)
        let disabling = try await login.sendAsServer(
            "PATCH", "\(path)/\(disabled.uuid)", #"{"disabled":true}"#)
        #expect(disabling.status == 204)
        let suspended = try await login.sendAsServer(
            "PATCH", "/apps/{app}/users/ana",
            #"[{"operation":"set","property":"suspended","value":true}]"#)
        #expect(suspended.status == 202)

        let nonce = try await login.store.newNonce()
        var header = ["alg": "5", "cty": "\"layer-eit;v=2\"", "kid": "\"mine\""]
        var claims = [
            "prn": "5", "iss": "\"layer:///providers/\(login.key.uuid)\"", "exp": "0",
            "iat": "\(Int64.max)", "nce": "\"unknown\"",
        ]
        var signature = "AAAA"
        func coded(_ text: String) -> String { Base64.encodeForURL(Array(text.utf8)) }
        func token() -> String {
            let signed = login.signed(LoginFixture.object(header), LoginFixture.object(claims))
            let parts = signed.split(separator: ".")
            return "\(parts[0]).\(parts[1]).\(signature.isEmpty ? String(parts[2]) : signature)"
        }
        func expect(_ reason: String, _ text: String) async throws {
            let answer = try await login.logIn(text)
            #expect(answer.reason == reason, "\(answer.body)")
            #expect(answer.status == 422, "\(answer.body)")
        }
        try await expect("eit_wrong_jws_part_count", "+.+.+.+")
        try await expect("eit_malformed_base64url", "\(coded("[")).+.AAAA")
        try await expect("eit_malformed_json", "\(coded("[")).\(coded("[")).AAAA")
        try await expect(
            "eit_malformed_json", "\(coded(LoginFixture.object(header))).\(coded("[")).AAAA")
        try await expect("eit_header_param_not_found", token())
        header["typ"] = login.header["typ"]
        try await expect("eit_header_param_wrong_type", token())
        header["alg"] = login.header["alg"]
        try await expect("eit_header_param_wrong_value", token())
        header["cty"] = login.header["cty"]
        let unknown = "9c1b7d5e-2f40-4e6a-8b3c-d4e5f6a7b8c9"
        for (key, reason) in [
            (nil, "eit_key_malformed"), (unknown, "eit_key_not_found"),
            (deleted.uuid, "eit_key_deleted"), (disabled.uuid, "eit_key_disabled"),
        ] {
            if let key { header["kid"] = "\"layer:///keys/\(key)\"" }
            try await expect(reason, token())
        }
        header["kid"] = login.header["kid"]
        let wrong = claims.removeValue(forKey: "prn")
        try await expect("eit_claim_not_found", token())
        claims["prn"] = wrong
        try await expect("eit_claim_wrong_type", token())
        claims["prn"] = "\"ana\""
        try await expect("eit_provider_not_found", token())
        for provider in [foreign.provider, other] {
            claims["iss"] = "\"layer:///providers/\(provider.uuid)\""
            try await expect("eit_provider_not_bound_to_app", token())
        }
        claims["iss"] = "\"layer:///providers/\(login.provider.uuid)\""
        try await expect("eit_signature_verification_failed", token())
        signature = ""
        try await expect("eit_expired", token())
        claims["exp"] = "\(login.now + 600)"
        try await expect("eit_not_before", token())
        claims["iat"] = "\(login.now)"
        try await expect("eit_nonce_not_found", token())
        claims["nce"] = "\"\(nonce)\""
        let refused = try await login.logIn(token())
        #expect(refused.status == 403)
        #expect(refused.json?["id"]?.string == "user_suspended")
        claims["prn"] = "\"bo\""
        #expect(try await login.logIn(token()).status == 201, "no failure has used the nonce")
    }

    @Test func `are accepted from both keys of a provider, until it is deleted (X14)`() async throws
    {
        let login = try await LoginFixture.make()
        let new = try await login.newKey()
        let header = ["kid": "\"layer:///keys/\(new.uuid)\""]
        #expect(try await login.logIn(login.token()).status == 201)
        #expect(try await login.logIn(login.token(header: header)).status == 201)
        let provider = "/apps/{app}/providers/\(login.provider.uuid)"
        let former = "\(provider)/keys/\(login.key.uuid)"
        #expect(try await login.sendAsServer("DELETE", former).status == 204)
        #expect(try await login.logIn(login.token()).reason == "eit_key_deleted")
        let answer = try await login.logIn(login.token(header: header))
        #expect(answer.status == 201)
        let session = try #require(answer.json?["session_token"]?.string)
        #expect(try await login.sendAsServer("DELETE", provider).status == 204)
        let refused = try await login.logIn(login.token(header: header))
        #expect(refused.status == 422)
        #expect(refused.reason == "eit_key_deleted")
        #expect(try await login.send("GET", "/conversations", session: session).status == 200)
    }

    @Test(arguments: [
        ("", "eit_wrong_jws_part_count"), ("a.b", "eit_wrong_jws_part_count"),
        ("a.b.c.d", "eit_wrong_jws_part_count"), ("....", "eit_wrong_jws_part_count"),
        ("a+b.e30.e30", "eit_malformed_base64url"), ("e30=.e30.e30", "eit_malformed_base64url"),
        ("e30.e30.e", "eit_malformed_base64url"), ("..", "eit_malformed_json"),
        ("W10.e30.", "eit_malformed_json"), ("e30.W10.", "eit_malformed_json"),
        ("e30.e30.", "eit_header_param_not_found"),
    ])
    func `that are no tokens are rejected (2.2)`(text: String, reason: String) async throws {
        let login = try await LoginFixture.make()
        let answer = try await login.logIn(text)
        #expect(answer.status == 422)
        #expect(answer.reason == reason)
    }

    @Test func `with another signature, or HS256 with the public key, are rejected (2.2)`()
        async throws
    {
        let login = try await LoginFixture.make(.rsa)
        let token = try await login.token()
        let parts = token.split(separator: ".").map(String.init)
        let other = try await login.token(of: "bo").split(separator: ".").map(String.init)
        for (claims, signature) in [(other[1], parts[2]), (parts[1], ""), (parts[1], "AAAA")] {
            let answer = try await login.logIn("\(parts[0]).\(claims).\(signature)")
            #expect(answer.reason == "eit_signature_verification_failed")
        }
        let header = Base64.encodeForURL(
            Array(
                LoginFixture.object(login.header.merging(["alg": "\"HS256\""]) { _, new in new })
                    .utf8
            ))
        let code = Signature.of(
            "\(header).\(parts[1])", key: Array(login.signer.publicPEM.utf8))
        let forged = "\(header).\(parts[1]).\(Base64.encodeForURL(code))"
        #expect(try await login.logIn(forged).reason == "eit_header_param_wrong_value")
        #expect(try await login.logIn(token).status == 201, "the nonce is still unused")
    }

    @Test func `are rejected once their key is disabled or deleted, and sessions go on (X14, 2.2)`()
        async throws
    {
        let login = try await LoginFixture.make()
        let session = try await login.session()
        let path = "/apps/{app}/providers/\(login.provider.uuid)/keys/\(login.key.uuid)"
        #expect(try await login.sendAsServer("PATCH", path, #"{"disabled":true}"#).status == 204)
        #expect(try await login.logIn(login.token()).reason == "eit_key_disabled")
        #expect(try await login.sendAsServer("PATCH", path, #"{"disabled":false}"#).status == 204)
        #expect(try await login.logIn(login.token()).status == 201)
        #expect(try await login.sendAsServer("DELETE", path).status == 204)
        #expect(try await login.logIn(login.token()).reason == "eit_key_deleted")
        #expect(try await login.send("GET", "/conversations", session: session).status == 200)
    }

    @Test func `of a provider of another application are rejected (2.2, ruling 46)`() async throws {
        let login = try await LoginFixture.make()
        let other = try await LoginFixture.make()
        let body = """
            {"identity_token":"\(try await other.token())","app_id":"\(login.sample.application.uuid)"}
            """
        let answer = try await login.send("POST", "/sessions", body)
        #expect(answer.reason == "eit_provider_not_bound_to_app")
        let mixed = try await login.token(
            header: ["kid": "\"layer:///keys/\(other.key.uuid)\""])
        #expect(try await login.logIn(mixed).reason == "eit_provider_not_bound_to_app")
    }

    @Test func `have a minute of leeway for clocks that differ (2.2)`() async throws {
        let login = try await LoginFixture.make(in: try await .withManualClock())
        let now = login.now
        for (claim, offset, status) in [
            ("exp", Int64(-59), 201), ("exp", -60, 422), ("iat", 60, 201), ("iat", 61, 422),
        ] {
            let token = try await login.token(claims: [claim: "\(now + offset)"])
            #expect(try await login.logIn(token).status == status, "\(claim) \(offset)")
        }
    }

    @Test func `set the members of the identity that they contain, and no others (2.2)`()
        async throws
    {
        let login = try await LoginFixture.make()
        let first = try await login.token(claims: [
            "display_name": "\"Ana\"", "avatar_url": "\"https://example.com/a.png\"",
            "email_address": "\"ana@example.com\"", "phone_number": "\"+34 1\"",
            "metadata": #"{"team":"blue"}"#, "first_name": "null", "other": "{}",
        ])
        #expect(try await login.logIn(first).status == 201)
        #expect(
            try await login.logIn(login.token(claims: ["display_name": "\"Ana B\""])).status == 201)
        let user = try #require(UserID("ana"))
        let identity = try await login.store.identity(of: user, in: login.sample.application)
            .identity
        #expect(identity[.displayName] == "Ana B")
        #expect(identity[.avatarURL] == "https://example.com/a.png")
        #expect(identity[.emailAddress] == "ana@example.com")
        #expect(identity[.phoneNumber] == "+34 1")
        #expect(identity[.firstName] == nil)
        #expect(identity.metadata == ["team": "blue"])
    }
}

@Suite struct `Nonces` {
    @Test func `begin one session each, also when it is tried at once (2.1, 2.2)`() async throws {
        let login = try await LoginFixture.make()
        let answer = try await login.send("POST", "/nonces")
        #expect(answer.status == 201)
        let nonce = try #require(answer.json?["nonce"]?.string)
        let token = try await login.token(nonce: nonce)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await login.logIn(token).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == [201] + Array(repeating: 422, count: 7))
        #expect(try await login.logIn(token).reason == "eit_nonce_not_found")
    }

    @Test func `begin one session in all applications together (2.1)`() async throws {
        let (one, other) = (try await LoginFixture.make(), try await LoginFixture.make())
        let nonce = try await one.store.newNonce()
        #expect(try await one.logIn(one.token(nonce: nonce)).status == 201)
        #expect(
            try await other.logIn(other.token(nonce: nonce)).reason == "eit_nonce_not_found")
    }

    @Test func `are valid for ten minutes (2.1)`() async throws {
        let login = try await LoginFixture.make(in: try await .withManualClock())
        let nonces = [try await login.store.newNonce(), try await login.store.newNonce()]
        login.sample.server.clock.advance(by: 600_000)
        #expect(try await login.logIn(login.token(nonce: nonces[0])).status == 201)
        login.sample.server.clock.advance(by: 1)
        #expect(
            try await login.logIn(login.token(nonce: nonces[1])).reason == "eit_nonce_not_found")
    }

    @Test func `of another database are not accepted (2.2)`() async throws {
        let login = try await LoginFixture.make()
        let other = try await TestServer.separate()
        let token = try await login.token(nonce: try await other.store.newNonce())
        #expect(try await login.logIn(token).reason == "eit_nonce_not_found")
    }

    @Test func `are not stored until they are used, and then until they expire (2.1)`()
        async throws
    {
        let login = try await LoginFixture.make(in: try await .withManualClock())
        let before = login.sample.server.commits
        _ = try await login.store.newNonce()
        let first = login.sample.server.commits
        for _ in 0..<50 {
            #expect(try await login.send("GET", "/conversations").nonce?.isEmpty == false)
        }
        #expect(login.sample.server.commits == first)
        #expect(first <= before + 1)
        _ = try await login.session()
        login.sample.server.clock.advance(by: 600_001)
        _ = try await login.session()
        let kept = try await login.store.usedNonces(in: login.sample.application)
        #expect(kept == 1)
    }

    @Test func `are accepted by all processes of a database (2.1)`() async throws {
        let first = try await TestServer.onPostgres()
        let login = try await LoginFixture.make(in: first)
        let second = try await TestServer.sharing(first)
        let token = try await login.token(nonce: try await second.store.newNonce())
        #expect(try await login.logIn(token).status == 201)
        let again = try await SocketClient(port: second.port).send(
            PlainRequest(
                method: "POST", target: "/sessions", fields: [],
                body: """
                    {"identity_token":"\(token)","app_id":"\(login.sample.application.uuid)"}
                    """))
        #expect(again.reason == "eit_nonce_not_found")
    }
}

extension MessagingStore {
    fileprivate func usedNonces(in application: Application.ID) async throws -> Int64? {
        try await database.read { transaction in
            try transaction.first(
                "/* test */ SELECT COUNT(*) FROM used_nonces WHERE application = \(application)"
            ) { row in try row.int64(0) }
        }
    }
}

@Suite struct `Sessions` {
    @Test(arguments: [
        ("{}", 422, "missing_property", "identity_token"),
        (#"{"identity_token":null,"app_id":5}"#, 422, "missing_property", "identity_token"),
        (#"{"identity_token":5,"app_id":5}"#, 422, "invalid_property", "identity_token"),
        (#"{"identity_token":"a.b.c"}"#, 422, "missing_property", "app_id"),
        (#"{"identity_token":"a.b.c","app_id":5}"#, 403, "invalid_app_id", nil),
        (#"{"identity_token":"a.b.c","app_id":"mine"}"#, 403, "invalid_app_id", nil),
        (
            #"{"identity_token":"a.b.c","app_id":"00000000-0000-4000-8000-000000000000"}"#, 403,
            "invalid_app_id", nil
        ),
        (
            #"{"identity_token":"a.b.c","app_id":"layer:///apps/staging/{suspended_app}"}"#, 403,
            "app_suspended", nil
        ),
        ("[]", 400, "invalid_request", nil), ("{", 400, "invalid_request", nil),
    ])
    func `need an identity token and an application (2.3)`(
        body: String, status: Int, id: String, property: String?
    ) async throws {
        let login = try await LoginFixture.make()
        let answer = try await login.send(
            "POST", "/sessions", body.filled(with: login.sample.variables))
        #expect(answer.status == status, "\(answer.body)")
        #expect(answer.json?["id"]?.string == id)
        #expect(answer.json?["data"]?["property"]?.string == property)
    }

    @Test(
        arguments: Endpoint.client.filter(\.needsCredential).map {
            "\($0.method.rawValue) \($0.path)"
        })
    func `are needed on each route, and without one a usable nonce is returned (2.4)`(
        route: String
    ) async throws {
        let login = try await LoginFixture.make()
        let parts = route.split(separator: " ").map(String.init)
        var target = parts[1]
        for (name, value) in [
            ("conversation", "0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"),
            ("message", "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d"), ("part", "0"),
            ("announcement", "3f2a7c60-18d4-4be2-9a57-c0d1e2f3a4b5"),
            ("content", "9c1b7d5e-2f40-4e6a-8b3c-d4e5f6a7b8c9"), ("identity", "bo"),
            ("followed", "bo"), ("device", "phone"),
        ] { target = target.replacing("{\(name)}", with: value) }
        for authorization in [
            nil, "Layer session-token=\"unknown\"", "Layer session-token=\"\"", "Layer",
            "Bearer \(login.sample.variables["token"] ?? "")", "Layer session-token=\"a b\"",
            "Layer session-token=\"\(String(repeating: "x", count: 5000))\"",
            "Layer session-token='x\"", "Basic YTpi",
        ] {
            let fields = authorization.map { [(name: "Authorization", value: $0)] } ?? []
            let answer = try await login.send(parts[0], target, fields: fields)
            #expect(answer.status == 401, "\(answer.body)")
            #expect(answer.json?["code"]?.integer == 4)
            let nonce = try #require(answer.nonce)
            #expect(answer["WWW-Authenticate"] == "Layer nonce=\"\(nonce)\"")
            guard authorization == nil else { continue }
            #expect(try await login.logIn(login.token(nonce: nonce)).status == 201)
        }
    }

    @Test(arguments: [
        "Layer session-token=\"{S}\"", "Layer session-token='{S}'", "Layer session-token={S}",
        "layer SESSION-TOKEN=\"{S}\"", "Layer  session-token=\"{S}\"",
    ])
    func `are named by a token in any quotes (client-api)`(authorization: String) async throws {
        let login = try await LoginFixture.make()
        let session = try await login.session()
        let value = authorization.replacing("{S}", with: session)
        let answer = try await login.send(
            "GET", "/conversations", fields: [("Authorization", value)])
        #expect(answer.status == 200)
        #expect(
            try await login.send("GET", "/conversations?session_token=\(session)").status == 401)
    }

    @Test func `end by DELETE of the token, which needs no credential (2.5, R92)`() async throws {
        let login = try await LoginFixture.make()
        let session = try await login.session()
        let other = try await login.session()
        let escaped = session.utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined()
        #expect(try await login.send("DELETE", "/sessions/\(escaped)").status == 204)
        #expect(try await login.send("GET", "/conversations", session: session).status == 401)
        #expect(try await login.send("GET", "/conversations", session: other).status == 200)
        #expect(try await login.send("DELETE", "/sessions/\(session)").status == 204)
        #expect(try await login.send("DELETE", "/sessions/unknown").status == 204)
        #expect(try await login.send("DELETE", "/sessions/%00%FF").status < 500)
    }

    @Test func `last as long as the application says, whatever their use (2.3, R94)`() async throws
    {
        let login = try await LoginFixture.make(in: try await .withManualClock())
        let clock = login.sample.server.clock
        let long = try await login.session()
        #expect(
            try await login.sendAsServer(
                "PATCH", "/apps/{app}",
                #"[{"operation":"set","property":"session_ttl_in_seconds","value":30}]"#
            ).status == 202)
        let short = try await login.session()
        clock.advance(by: 29_999)
        #expect(try await login.send("GET", "/conversations", session: short).status == 200)
        clock.advance(by: 1)
        #expect(try await login.send("GET", "/conversations", session: short).status == 401)
        clock.advance(by: 30 * 86_400_000 - 30_001)
        #expect(try await login.send("GET", "/conversations", session: long).status == 200)
        clock.advance(by: 1)
        #expect(try await login.send("GET", "/conversations", session: long).status == 401)
    }

    @Test func `end with the suspension of the user, who cannot log in (2.4, R92, R93)`()
        async throws
    {
        let login = try await LoginFixture.make()
        let session = try await login.session()
        func suspend(_ isSuspended: Bool) async throws -> Int {
            try await login.sendAsServer(
                "PATCH", "/apps/{app}/users/ana",
                #"[{"operation":"set","property":"suspended","value":\#(isSuspended)}]"#
            ).status
        }
        #expect(try await suspend(true) == 202)
        #expect(try await login.send("GET", "/conversations", session: session).status == 401)
        let token = try await login.token()
        let refused = try await login.logIn(token)
        #expect(refused.status == 403)
        #expect(refused.json?["code"]?.integer == 6)
        #expect(try await suspend(false) == 202)
        #expect(try await login.send("GET", "/conversations", session: session).status == 401)
        #expect(try await login.logIn(token).status == 201, "the nonce was not used up")
    }

    @Test func `are not valid while the application is suspended (2.4)`() async throws {
        let login = try await LoginFixture.make()
        let session = try await login.session()
        try await login.store.suspendApplication(login.sample.application, true)
        #expect(try await login.send("GET", "/conversations", session: session).status == 401)
        #expect(try await login.logIn(login.token()).json?["code"]?.integer == 5)
        try await login.store.suspendApplication(login.sample.application, false)
        #expect(try await login.send("GET", "/conversations", session: session).status == 200)
    }

    @Test func `show the hour of their last use, and their browser (ruling 49)`() async throws {
        let login = try await LoginFixture.make(in: try await .withManualClock())
        let session = try await login.logIn(login.token())
        let token = try #require(session.json?["session_token"]?.string)
        func lastUse() async throws -> String? {
            try await login.sendAsServer("GET", "/apps/{app}/users/ana/sessions")
                .json?.elements.compactMap { $0["last_used_at"]?.string }.first
        }
        let first = try #require(try await lastUse())
        #expect(first.hasSuffix(":00:00.000Z"))
        login.sample.server.clock.advance(by: 7_200_000)
        #expect(try await lastUse() == first)
        #expect(try await login.send("GET", "/conversations", session: token).status == 200)
        #expect(try await lastUse() != first)
    }

    @Test func `ended by one process end in the others within a second (R92)`() async throws {
        let first = try await TestServer.onPostgres()
        let login = try await LoginFixture.make(in: first)
        let second = try await TestServer.sharing(first)
        let session = try await login.session()
        let request = PlainRequest(
            method: "GET", target: "/conversations",
            fields: [("Authorization", "Layer session-token=\(session)")], body: "")
        let other = SocketClient(port: second.port)
        #expect(try await other.send(request).status == 200)
        #expect(
            try await login.sendAsServer("DELETE", "/apps/{app}/users/ana/sessions").status == 204)
        first.clock.advance(by: 1000)
        #expect(try await other.send(request).status == 401)
    }

    @Test func `are ended by a process whose clock is behind, and begin again (R92)`() async throws
    {
        let login = try await LoginFixture.make(in: try await .withManualClock())
        let clock = login.sample.server.clock
        func status(_ session: String) async throws -> Int {
            try await login.send("GET", "/conversations", session: session).status
        }
        clock.advance(by: 2000)
        let early = try await login.session()
        clock.advance(by: -1000)
        let end = "/apps/{app}/users/ana/sessions"
        #expect(try await login.sendAsServer("DELETE", end).status == 204)
        #expect(try await status(early) == 401)
        clock.advance(by: -1000)
        let late = try await login.session()
        #expect(try await status(late) == 200)
        #expect(try await login.sendAsServer("DELETE", end).status == 204)
        #expect(try await status(late) == 401)
    }

    @Test func `beyond a thousand end the oldest one (2.3)`() async throws {
        let login = try await LoginFixture.make()
        let user = try #require(UserID("ana"))
        let first = try await login.session()
        for _ in 0..<Session.limit {
            _ = try await login.store.beginDevelopmentSession(
                of: user, in: login.sample.application)
        }
        #expect(try await login.send("GET", "/conversations", session: first).status == 401)
        #expect(
            try await login.store.sessions(of: user, in: login.sample.application).count
                == Session.limit)
    }

    @Test func `are stored without their tokens (2.3)`() async throws {
        let login = try await LoginFixture.make()
        let session = try await login.session()
        let events = try await login.sample.events()
        let digests = events.compactMap { event -> [UInt8]? in
            if case .sessionCreated(let created) = event { created.digest } else { nil }
        }
        #expect(digests == [login.store.environment.sha256(Array(session.utf8))])
        let log = try await login.sendAsServer("GET", "/apps/{app}/events")
        #expect(!log.body.contains(session))
    }
}

@Suite struct `The development login` {
    private func send(
        _ body: String, to server: TestServer, origin: String? = nil
    ) async throws -> PlainAnswer {
        try await SocketClient(port: server.port).send(
            PlainRequest(
                method: "POST", target: "/dev/login",
                fields: origin.map { [("Origin", $0)] } ?? [], body: body))
    }

    @Test func `exists only with its setting, which the answer names (X14)`() async throws {
        let server = try await TestServer.withoutDevelopmentLogin()
        let answer = try await send(#"{"user_id":"ana"}"#, to: server)
        #expect(answer.status == 404)
        #expect(answer.body.contains("api.dev_login"))
    }

    @Test func `needs no application where there is one, and its sessions end after a day (X14)`()
        async throws
    {
        let server = try await TestServer.withManualClock()
        #expect(try await send(#"{"user_id":"ana"}"#, to: server).status == 422)
        let application = try await server.store.createApplication(name: "only")
        let answer = try await send(#"{"user_id":"ana","display_name":"Ana"}"#, to: server)
        #expect(answer.status == 201)
        #expect(answer.json?["app_id"]?.string == application.id.uuid)
        let token = try #require(answer.json?["session_token"]?.string)
        func status() async throws -> Int {
            try await SocketClient(port: server.port).send(
                PlainRequest(
                    method: "GET", target: "/conversations",
                    fields: [("Authorization", "Layer session-token=\(token)")], body: "")
            ).status
        }
        server.clock.advance(by: 86_399_999)
        #expect(try await status() == 200)
        server.clock.advance(by: 1)
        #expect(try await status() == 401)
    }

    @Test func `refuses pages of other origins, and floods (X14)`() async throws {
        let server = try await TestServer.withLoginLimit()
        _ = try await server.store.createApplication(name: "only")
        let body = #"{"user_id":"ana"}"#
        #expect(try await send(body, to: server, origin: "https://evil.example").status == 403)
        #expect(try await send(body, to: server, origin: "null").status == 403)
        #expect(try await send(body, to: server, origin: "https://app.example").status == 201)
        #expect(try await send(body, to: server, origin: "http://127.0.0.1").status == 201)
        var statuses: [Int] = []
        for _ in 0..<10 { statuses.append(try await send(body, to: server).status) }
        #expect(statuses.last == 429)
    }

    @Test(arguments: [
        ("{}", "user_id"), (#"{"user_id":5}"#, "user_id"), (#"{"user_id":".."}"#, "user_id"),
        (#"{"user_id":"ana","display_name":5}"#, "display_name"),
        (#"{"user_id":"ana","display_name":""}"#, "display_name"),
    ])
    func `validates its members (X14)`(body: String, property: String) async throws {
        let answer = try await send(body, to: try await TestServer.withManualClock())
        #expect(answer.status == 422)
        #expect(answer.json?["data"]?["property"]?.string == property)
    }
}
