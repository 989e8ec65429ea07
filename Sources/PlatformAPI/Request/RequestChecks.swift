import HTTP
import Messaging
import MessagingStore
import MessagingWire

/// The checks every request passes before its handler, in the order of platform-api §1.6.
///
/// Steps 1 (route), 2 (method) and 3 (media types) need only the header section; step 4 (credential) may need the
/// database; step 5 is the rate limit; step 6 reads the body.
struct RequestChecks: Sendable {
    let api: PlatformAPI
    let request: Request
    let endpoint: Endpoint
    let parameters: PathParameters
    /// The version where the request cannot name one: a sub-protocol fixes that of a WebSocket, and browsers cannot set
    /// `Accept` (client-api §5.1). `nil` for other requests.
    var fixedVersion: APIVersion?
    /// The console that has received the request; `nil` for a request to the Platform API itself.
    var console: ConsoleAccess?

    /// Whether the answer must not show the contents of messages.
    var hidesContent: Bool { console?.hidesContent == true }

    // MARK: - From the header section alone

    /// Whether the endpoint offers a stream of events and the client accepts one (X3).
    var wantsStream: Bool {
        guard case .eventStream = endpoint.handler else { return false }
        return request.fields.joined("Accept").map(AcceptRange.all)?
            .contains { range in range.isType("text/event-stream") } ?? false
    }

    /// Step 3, first half: the version.
    ///
    /// Events are the same in all versions, so a stream needs no version.
    func version() throws(APIError) -> APIVersion {
        if let fixedVersion { return fixedVersion }
        if wantsStream { return .v3_0 }
        let (accept, isStrict) = (request.fields.joined("Accept"), api.isAcceptStrict)
        guard let version = APIVersion(accept: accept, of: endpoint.family, isStrict: isStrict)
        else { throw notAcceptable(isStrict) }
        return version
    }

    /// Returns the 406; its text lists what the endpoint accepts.
    private func notAcceptable(_ isStrict: Bool) -> APIError {
        let family = endpoint.family
        let names = family.versions.sorted().map(\.rawValue)
        let versions = "\(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
        var message = """
            Invalid Accept header; must be of form \(family.mediaType); version=x.y, where x.y is \(versions)
            """
        if !isStrict { message += ", or application/json for \(names.last ?? "")" }
        if case .eventStream = endpoint.handler { message += ", or text/event-stream" }
        return APIError(.invalidHeader, "\(message).", data: .header("Accept"))
    }

    /// Step 3, second half: the media type of a patch.
    ///
    /// A request without a body needs no media type (ruling 24).
    func requirePatchType(_ version: APIVersion) throws(APIError) {
        guard endpoint.method == .patch,
            !PatchType.accepts(request.fields["Content-Type"], version)
        else { return }
        if !request.fields.contains("Content-Type"), request.isBodyless { return }
        let other = version == .v3_0 ? " or application/json" : ""
        let text = "Invalid Content-Type header; must be \(PatchType.name)\(other)"
        throw APIError(
            .invalidHeader,
            PatchType.isJSONPatch(request.fields["Content-Type"])
                ? "\(text), with operations such as \(PatchType.example) instead of JSON Patch"
                : text,
            data: .header("Content-Type"))
    }

    /// Returns the methods that the path offers in a version, if this endpoint is not offered in it; else `nil`. The
    /// error for an endpoint of other versions is sent before authentication (ruling 4).
    func otherMethods(in version: APIVersion) -> [Method]? {
        guard !endpoint.versions.contains(version) else { return nil }
        let offered = Endpoint.routed
            .filter { $0.path == endpoint.path && $0.versions.contains(version) }.map(\.method)
        return Method.allCases.filter { method in
            offered.contains(method) || method == .options
                || method == .head && offered.contains(.get)
        }
    }

    /// Whether the path exists in later versions only, so that it is unknown in this one. A path that a later version
    /// removed stays known and offers no method (platform-api §1.3, §5.3, §5.9).
    func isAhead(of version: APIVersion) -> Bool {
        Endpoint.routed.filter { $0.path == endpoint.path }.flatMap(\.versions)
            .allSatisfy { version < $0 }
    }

    // MARK: - With the database

    /// Step 4: authenticates the credential and checks what it allows.
    ///
    /// Without a valid token 401, whatever the application id; with one, another or an unknown application is 403
    /// (ruling 4). On the Client API, 401 with a nonce without a valid session (client-api §2.4).
    func authorization() async throws -> Authorization {
        if let console { return try await authorization(through: console) }
        if endpoint.family == .client { return try await sessionAuthorization() }
        let token: BearerToken
        do throws(BearerToken.Problem) {
            token = try BearerToken(request.fields)
        } catch {
            throw APIError(error)
        }
        guard let grant = try await api.store.authenticate(token.secret) else {
            throw APIError(BearerToken.Problem.unknown)
        }
        return try admitted(grant)
    }

    private func authorization(through console: ConsoleAccess) async throws -> Authorization {
        guard !console.hidesContent || !endpoint.writesContent else {
            throw APIError(
                .accessDenied,
                "The setting `console.show_content` is false, and this operation returns contents.")
        }
        switch try await console.caller() {
        case .token(let grant): return try admitted(grant)
        case .named(let account):
            guard let id = parameters["app"].flatMap({ Application.ID(uuid: $0) }),
                try await api.store.application(id) != nil
            else { throw Rejection.notFound(.application) }
            guard account.role >= scope else {
                throw APIError(
                    .accessDenied,
                    "The operator has the role `\(account.role)`; this operation needs `\(scope)`.")
            }
            return Authorization(application: id, caller: .account(account))
        }
    }

    /// The scope that the caller needs.
    private var scope: Token.Scope {
        console == nil ? endpoint.scope : endpoint.consoleScope
    }

    private func sessionAuthorization() async throws -> Authorization {
        let token: SessionToken
        do throws(SessionToken.Problem) {
            token = try sessionToken()
        } catch {
            throw try await api.challenge(error)
        }
        guard let grant = try await api.store.authenticateSession(token.bytes) else {
            throw try await api.challenge(.unknown)
        }
        return Authorization(grant)
    }

    /// Returns the session token of the header, or of the query where the endpoint accepts it there.
    private func sessionToken() throws(SessionToken.Problem) -> SessionToken {
        if endpoint.takesTokenFromQuery, !request.fields.contains("Authorization"),
            let token = SessionToken(request.target)
        {
            return token
        }
        return try SessionToken(request.fields)
    }

    /// The same for a credential in the store's cache; `nil` when the database is needed.
    func cachedAuthorization() throws(APIError) -> Authorization? {
        if console != nil { return nil }
        if endpoint.family == .client {
            guard let token = try? sessionToken() else { return nil }
            return api.store.cachedSessionGrant(token.bytes).map { grant in Authorization(grant) }
        }
        guard let token = try? BearerToken(request.fields),
            let grant = api.store.cachedGrant(token.secret)
        else { return nil }
        return try admitted(grant)
    }

    private func admitted(_ grant: Grant) throws(APIError) -> Authorization {
        guard let path = parameters["app"], Application.ID(uuid: path) == grant.application.id
        else { throw APIError(.invalidAppID, "The token does not belong to this application.") }
        guard !grant.application.isSuspended else {
            throw APIError(.appSuspended, "The application has been suspended.")
        }
        guard grant.token.scope >= scope else {
            throw APIError(
                .accessDenied,
                """
                The token has the scope `\(grant.token.scope)`; this operation needs `\(scope)`.
                """)
        }
        return Authorization(application: grant.application.id, caller: .token(grant.token))
    }

    /// Step 6, first part: the `Idempotency-Key` of a `POST` or `PATCH` (X2, ruling 3). Two such headers are invalid.
    func idempotencyKey() throws(APIError) -> IdempotencyKey? {
        guard endpoint.isRepeatable,
            let text = request.fields.joined("Idempotency-Key")
        else { return nil }
        guard let key = IdempotencyKey(text) else {
            throw APIError(
                .invalidRequestID,
                "The Idempotency-Key header must be 1 to \(IdempotencyKey.limit) visible ASCII characters."
            )
        }
        return key
    }

    /// Step 6, second part: the key in `If-None-Match`, on the endpoints that accept one.
    ///
    /// It is a UUID without quotes. Other endpoints ignore the header, since one client sends it with every request
    /// (platform-api §1.9).
    func replayKey() throws(APIError) -> Replay.Key? {
        guard endpoint.isKeyed, let text = request.fields.joined("If-None-Match") else {
            return nil
        }
        guard let key = Replay.Key(uuid: text) else {
            throw APIError(.invalidRequestID, "The If-None-Match header must be a plain UUID.")
        }
        return key
    }
}

extension Request {
    /// Whether the header section states that no body follows.
    fileprivate var isBodyless: Bool {
        switch framing {
        case .none, .length(0): true
        default: false
        }
    }
}

extension Request {
    /// The effective method: `PATCH` for a `POST` that overrides it (platform-api §1.5).
    ///
    /// A `POST` can be overridden by `PATCH` only, and the header is ignored on other methods (H67).
    var effectiveMethod: Method {
        guard method == .post, let override = fields["X-HTTP-Method-Override"] else {
            return method
        }
        return override.lowercased() == "patch" ? .patch : method
    }
}

/// The media types a `PATCH` may come with (platform-api §1.2).
public enum PatchType {
    /// The type the documentation names; `OPTIONS` shows it in `Accept-Patch`.
    static let name = "application/vnd.layer-patch+json"

    /// Whether a `Content-Type` is that of Layer Patch, also as one page of the original documentation misspells it;
    /// parameters do not matter.
    public static func isNamed(by contentType: String?) -> Bool {
        [name, "application/vnd.layer-patch.json"].contains(type(of: contentType))
    }

    /// Whether a `PATCH` may have a `Content-Type`: one official client sends `application/json` with version 3.0.
    static func accepts(_ contentType: String?, _ version: APIVersion) -> Bool {
        isNamed(by: contentType)
            || version == .v3_0 && type(of: contentType) == "application/json"
    }

    /// Whether a `Content-Type` names the JSON Patch of RFC 6902, which this server does not read.
    static func isJSONPatch(_ contentType: String?) -> Bool {
        type(of: contentType) == "application/json-patch+json"
    }

    /// An operation of a Layer-Patch, for error texts.
    static let example = #"{"operation":"set","property":"metadata.topic","value":"rent"}"#

    /// The type without parameters, in lower case.
    private static func type(of contentType: String?) -> String? {
        contentType?.prefix { character in character != ";" }
            .filter { character in character != " " && character != "\t" }.lowercased()
    }
}

/// The application and caller that the credential of a request identifies.
struct Authorization: Sendable {
    let application: Application.ID
    let caller: Caller

    init(application: Application.ID, caller: Caller) {
        self.application = application
        self.caller = caller
    }

    init(_ grant: SessionGrant) {
        self.init(application: grant.application.id, caller: .session(grant.session))
    }

    /// The application and credential that the request log names.
    var owner: RequestOwner {
        RequestOwner(application: application.uuid, token: caller.id.uuid)
    }
}

/// What a request is authorized by: a token of the application, a session of one of its users, or an operator of the
/// server.
enum Caller: Sendable {
    case token(Token)
    case session(Session)
    case account(ConsoleAccount)

    /// The id of the token or of the session of the user or operator, by which requests and streams are counted.
    var id: Token.ID {
        switch self {
        case .token(let token): token.id
        case .session(let session): Token.ID(session.id)
        case .account(let account): Token.ID(account.session)
        }
    }

    /// When the credential expires; `nil` for never.
    var expiresAt: Timestamp? {
        switch self {
        case .token(let token): token.expiresAt
        case .session(let session): session.expiresAt
        case .account(let account): account.expiresAt
        }
    }

    /// The user of the session; `nil` for a token or an operator.
    var user: UserID? {
        switch self {
        case .token, .account: nil
        case .session(let session): session.user
        }
    }
}
