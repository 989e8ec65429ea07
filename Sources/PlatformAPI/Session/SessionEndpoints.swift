import Bytes
import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Endpoint {
    /// How the user of an application logs in and out: no session is needed (client-api §2).
    static let login = [
        Endpoint(
            .post, "/nonces", "Returns a nonce for an identity token.", family: .client,
            .withoutCredential { context, _ in try await context.createNonce() }
        ) { _ in
            Operation("createNonce", answers: [.created(SessionRequestJSON.nonceSchema)])
        },
        Endpoint(
            .post, "/sessions", "Exchanges an identity token for a session token.",
            family: .client,
            .withoutCredential { context, body in try await context.createSession(body) }
        ) { _ in
            Operation(
                "createSession", body: SessionRequestJSON.schema,
                answers: [.created(SessionRequestJSON.answerSchema, [.resources])],
                errors: [.invalidAppID, .appSuspended, .userSuspended, .missingProperty],
                example: Example(
                    body: """
                        {"identity_token":"\(Sample.identityToken)",\
                        "app_id":"layer:///apps/production/\(Sample.application)"}
                        """))
        },
        Endpoint(
            .delete, "/sessions/{token}", "Ends the session with a token.", family: .client,
            .withoutCredential { context, _ in try await context.deleteSession() }
        ) { _ in
            Operation("deleteSession", answers: [.noContent])
        },
        Endpoint(
            .post, "/dev/login",
            "Returns a session token without an identity token; only with `api.dev_login`.",
            family: .client,
            .withoutCredential { context, body in try await context.logInForDevelopment(body) }
        ) { _ in
            Operation(
                "logInForDevelopment", body: SessionRequestJSON.developmentSchema,
                answers: [.created(SessionRequestJSON.developmentAnswerSchema, [.resources])],
                errors: [.invalidAppID, .appSuspended, .userSuspended, .accessDenied],
                example: Example(
                    body: """
                        {"user_id":"\(Sample.reader)","display_name":"Bo",\
                        "app_id":"\(Sample.application)"}
                        """))
        },
    ]

    /// The sessions of a user, for the application's servers (platform-api §5.11, ruling 49).
    static let sessions = [
        Endpoint(
            .get, "/apps/{app}/users/{user}/sessions",
            "Lists the sessions of a user, newest first.",
            isCompressed: true, .withoutBody { context in try await context.listSessions() }
        ) { _ in
            Operation(
                "listSessions",
                answers: [.ok(.array(of: SessionJSON.schema), "All sessions that have not ended.")])
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/sessions", "Ends all sessions of a user.",
            .withoutBody { context in try await context.endSessions() }
        ) { _ in
            Operation("endSessions", answers: [.noContent])
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/sessions/{session}", "Reads a session of a user.",
            .withoutBody { context in try await context.readSession() }
        ) { _ in
            Operation("readSession", answers: [.ok(SessionJSON.schema, "The session.")])
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/sessions/{session}", "Ends a session of a user.",
            .withoutBody { context in try await context.endSession() }
        ) { _ in
            Operation("endSession", answers: [.noContent])
        },
    ]
}

extension Parameter {
    /// Where a session continues (client-api §2.3).
    fileprivate static let resources = Parameter(
        "Link", .string,
        "The URLs of the conversations, of the content and of the WebSocket, with `rel`.",
        isRequired: true)
}

extension Sample {
    /// A placeholder for an identity token, which would expire; the tests replace it.
    static let identityToken = "header.claims.signature"
}

// MARK: - For the application's servers

extension RequestContext {
    /// `GET /users/{u}/sessions` (ruling 49).
    func listSessions() async throws -> Reply {
        Reply(.ok, SessionJSON.bytes(try await store.sessions(of: user(), in: application)))
    }

    /// `GET /users/{u}/sessions/{session}` (ruling 49).
    func readSession() async throws -> Reply {
        Reply(
            .ok, SessionJSON.bytes(try await store.session(session(), of: user(), in: application)))
    }

    /// `DELETE /users/{u}/sessions` (platform-api §5.11).
    func endSessions() async throws -> Reply {
        try await store.endSessions(of: user(), in: application)
        return .noContent
    }

    /// `DELETE /users/{u}/sessions/{session}` (ruling 49).
    func endSession() async throws -> Reply {
        try await store.endSession(session(), of: user(), in: application)
        return .noContent
    }

    private func session() throws(Rejection) -> Session.ID {
        guard let id = parameters["session"].flatMap({ Session.ID(uuid: $0) }) else {
            throw .notFound(.session)
        }
        return id
    }
}

// MARK: - For users that have no session

/// A request without a credential that has passed the checks of its headers.
struct LoginContext: Sendable {
    let api: PlatformAPI
    let request: Request
    let parameters: PathParameters

    /// `POST /nonces` (client-api §2.1).
    func createNonce() async throws -> Reply {
        Reply(.created, SessionRequestJSON.answer(nonce: try await api.store.newNonce()))
    }

    /// `POST /sessions` (client-api §2.3): the checks of the identity token in the order of client-api §2.2.
    func createSession(_ body: JSONValue) async throws -> Reply {
        let (text, id) = try SessionRequestJSON.read(body.asObject())
        let application = try await application(id)
        let token = try IdentityTokenJSON(text)
        let (key, owner) = try await key(of: token)
        let claims = try token.claims()
        try await requireProvider(claims, of: key, owner, in: application)
        guard key.algorithm == token.algorithm,
            PublicKey(der: key.der)?.verifies(token.signature, of: token.signedBytes) == true
        else { throw IdentityTokenProblem.signatureVerificationFailed }
        try claims.checkTimes(at: api.clock())
        let effect = RecordedEffect()
        let created = try await api.store.noting(effect).beginSession(
            by: claims, userAgent: request.fields["User-Agent"], in: application)
        return try await addingCursor(
            of: effect, in: application,
            to: Reply(.created, SessionRequestJSON.answer(created.token)).adding("Link", links))
    }

    /// Adds the position of the effect in the feed of the user (Y2).
    private func addingCursor(
        of effect: RecordedEffect, in application: Application.ID, to reply: Reply
    ) async throws -> Reply {
        try await reply.addingCursor(
            of: effect, in: application, epoch: api.store.epoch(), api.store)
    }

    /// Check 5: the key of the token, which is neither deleted nor disabled.
    private func key(
        of token: IdentityTokenJSON
    ) async throws -> (ProviderKey, of: Application.ID) {
        switch try await api.store.providerKey(token.keyID()) {
        case .unknown: throw IdentityTokenProblem.keyNotFound
        case .deleted: throw IdentityTokenProblem.keyDeleted
        case .found(let key, _) where key.isDisabled: throw IdentityTokenProblem.keyDisabled
        case .found(let key, let owner): return (key, owner)
        }
    }

    /// Check 7: the provider exists, belongs to the application, and owns the key.
    private func requireProvider(
        _ claims: IdentityClaims, of key: ProviderKey, _ owner: Application.ID,
        in application: Application.ID
    ) async throws {
        guard let provider = claims.provider,
            let bound = try await api.store.application(ofProvider: provider)
        else { throw IdentityTokenProblem.providerNotFound }
        guard bound == application, owner == application, key.provider == provider else {
            throw IdentityTokenProblem.providerNotBound
        }
    }

    /// `DELETE /sessions/{token}` (client-api §2.5): the token itself is the permission, and an unknown one is no error.
    func deleteSession() async throws -> Reply {
        let effect = RecordedEffect()
        guard let token = parameters["token"],
            let application = try await api.store.noting(effect).endSession(withToken: token.utf8)
        else { return .noContent }
        return try await addingCursor(of: effect, in: application, to: .noContent)
    }

    /// `POST /dev/login` (X14): refused for pages of other origins, so that no page can log in to a developer's server.
    func logInForDevelopment(_ body: JSONValue) async throws -> Reply {
        guard api.settings.allowsDevelopmentLogin else {
            throw APIError(
                .invalidEndpoint,
                "`POST /dev/login` exists only with the setting `api.dev_login`.")
        }
        if let origin = request.fields["Origin"], !isAllowed(origin) {
            throw APIError(
                .accessDenied,
                "Pages of this origin may not use `POST /dev/login`; list it in `http.cors_origins`."
            )
        }
        if case .refused = api.developmentLogins.admit(
            request.peer.description, at: api.clock().milliseconds)
        {
            throw APIError.rateLimited("An address may log in ten times per second.", retryAfter: 1)
        }
        let (user, displayName, name) = try SessionRequestJSON.readDevelopment(body.asObject())
        let application: Application.ID
        if let name {
            application = try await self.application(SessionRequestJSON.applicationID(name))
        } else {
            let all = try await api.store.applications()
            guard let only = all.first, all.count == 1 else { throw Rejection.missing("app_id") }
            application = try await self.application(only.id)
        }
        let effect = RecordedEffect()
        let created = try await api.store.noting(effect).beginDevelopmentSession(
            of: user, displayName: displayName, userAgent: request.fields["User-Agent"],
            in: application)
        return try await addingCursor(
            of: effect, in: application,
            to: Reply(
                .created, SessionRequestJSON.answer(created.token, of: user, in: application)
            ).adding("Link", links))
    }

    /// Whether pages of an origin may log in: those of this server, and of origins that the operator lists by name.
    private func isAllowed(_ origin: String) -> Bool {
        let own = request.fields["Host"].map { host in "\(request.scheme.rawValue)://\(host)" }
        return ([api.publicBase.of(request), own].compactMap(\.self) + api.settings.crossOrigins)
            .contains { known in known.utf8.elementsEqual(origin.utf8) }
    }

    /// Returns a known application that is not suspended.
    private func application(_ id: Application.ID?) async throws -> Application.ID {
        guard let id, let application = try await api.store.application(id) else {
            throw APIError(.invalidAppID, "There is no application with this `app_id`.")
        }
        guard !application.isSuspended else {
            throw APIError(.appSuspended, "The application has been suspended.")
        }
        return id
    }

    /// Where the session continues.
    private var links: String {
        let base = api.publicBase.of(request)
        let socket = base.hasPrefix("http") ? "ws\(base.dropFirst(4))" : base
        return """
            <\(base)/conversations>; rel=conversations, <\(base)/content>; rel=content, \
            <\(socket)/websocket>; rel=websocket
            """
    }
}

extension APIError {
    /// An identity token that is rejected: 403 for a suspended user, else 422 with the diagnostic (client-api §2.2).
    init(_ problem: IdentityTokenProblem) {
        guard problem != .userSuspended else {
            self.init(.userSuspended, "The user has been suspended.")
            return
        }
        self.init(
            .invalidProperty, "Invalid identity token: \(problem.sentence)",
            data: .reason(problem.rawValue, property: "identity_token"))
    }
}

extension IdentityTokenProblem {
    /// What is wrong, and what is allowed.
    fileprivate var sentence: String {
        switch self {
        case .wrongPartCount: "it must have three parts with two dots between them."
        case .malformedBase64URL: "each part must be base64url without padding."
        case .malformedJSON: "header and claims must be JSON objects."
        case .headerParameterNotFound: "the header must have `typ`, `alg`, `cty` and `kid`."
        case .headerParameterWrongType:
            "`typ`, `alg`, `cty` and `kid` of the header must be strings."
        case .headerParameterWrongValue:
            "the header must have `typ` `JWT`, `cty` `layer-eit;v=1`, and `alg` `RS256`, `ES256` or `EdDSA`."
        case .keyMalformed: "`kid` must be the id of a key, such as `layer:///keys/{uuid}`."
        case .keyNotFound: "there is no key with the id in `kid`."
        case .keyDeleted: "the key in `kid` has been deleted; sign with another one."
        case .keyDisabled: "the key in `kid` is disabled; enable it, or sign with another one."
        case .claimNotFound: "the claims must include `iss`, `prn`, `iat`, `exp` and `nce`."
        case .claimWrongType:
            "`iss`, `prn`, `nce` must be strings, `prn` a user id, `iat` and `exp` whole numbers of seconds, and profile claims within the limits of identities."
        case .providerNotFound:
            "`iss` must be the id of a provider, such as `layer:///providers/{uuid}`."
        case .providerNotBound:
            "the provider in `iss` must belong to the application, and the key in `kid` to the provider."
        case .signatureVerificationFailed: "its signature is not that of the key in `kid`."
        case .expired: "`exp` has passed; sign a new token."
        case .notBefore: "`iat` is in the future; check the clock of the server that signs."
        case .nonceNotFound:
            "`nce` must be a nonce of this server that is at most ten minutes old and unused; request one with POST /nonces."
        case .userSuspended: "the user has been suspended."
        }
    }
}
