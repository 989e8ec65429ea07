public import HTTP
import JSON
import Messaging
public import MessagingWire
import SystemSupport

/// One method on one path of the Platform API or the Client API.
///
/// The router, `OPTIONS`, the article Endpoints and the OpenAPI description are all made from these.
public struct Endpoint: Sendable {
    /// How an endpoint answers.
    enum Handler: Sendable {
        /// From the header section alone; a body that a client sends is not read.
        case withoutBody(@Sendable (RequestContext) async throws -> Reply)
        /// The same, but from a cache while the answer is there. The cache is read after authorization, and its answer
        /// is sent without further checks, so it must hold only answers that no later check would refuse.
        case cached(
            @Sendable (RequestContext) -> Reply?,
            else: @Sendable (RequestContext) async throws -> Reply)
        /// As a stream of events for clients that accept one, else as an ordinary answer; both may take long.
        case eventStream(
            @Sendable (RequestContext) async throws -> EventStream,
            else: @Sendable (RequestContext) async throws -> Reply)
        /// From a JSON body.
        case jsonBody(@Sendable (RequestContext, JSONValue) async throws -> Reply)
        /// From a body of any length, which the handler reads while it arrives.
        case streamedBody(@Sendable (RequestContext, any RequestBody) async throws -> Reply)
        /// Without a credential, from a JSON body; for other methods than `POST` the body is an empty object.
        case withoutCredential(@Sendable (LoginContext, JSONValue) async throws -> Reply)
    }

    /// The method; `GET` includes `HEAD`.
    public let method: Method
    /// The path from the root of the server.
    public let path: PathTemplate
    /// The versions that offer it.
    public let versions: Set<APIVersion>
    /// The interface it belongs to.
    let family: APIFamily
    /// One sentence that describes it.
    public let summary: String
    /// Whether `If-None-Match` may hold a key that identifies a repeated creation (platform-api §1.9).
    let isKeyed: Bool
    /// Whether its answers are compressed for clients that accept that, unless one holds a secret
    /// (``SecretTracker``, H115).
    let isCompressed: Bool
    /// The scope that a token needs.
    let scope: Token.Scope
    /// Whether it needs disk space while it runs, and has no time limit.
    let needsDiskSpace: Bool
    /// Whether the query parameter `session_token` may hold the session token, for browsers that cannot set headers
    /// (X13).
    let takesTokenFromQuery: Bool
    /// Whether it has effects outside the database, so that they and its stored answer cannot be one transaction (X2).
    let hasExternalEffects: Bool
    /// Checks the body against something outside the database, such as DNS; `nil` for none. It runs before the
    /// transaction begins, so that no transaction waits for it.
    let check: (@Sendable (RequestContext, JSONValue) async throws -> Void)?
    let handler: Handler
    /// Describes it for the OpenAPI document of a version; see ``Operation``.
    let describe: @Sendable (APIVersion, MessagingLimits) -> Operation

    /// Whether the server acts for the user in the path; see ``actor(for:or:)``.
    private let actsForUser: Bool

    /// The query parameters that its description lists; its handler sees no others. Computed when first needed: at the
    /// first request with a query.
    var queryNames: QueryNames {
        if let known = declared.withLock({ $0 }) { return known }
        // Versions and limits differ in the shapes of parameters, not in their names.
        let names = QueryNames(
            versions.max().map { version in describe(version, MessagingLimits()).query } ?? [])
        declared.withLock { $0 = names }
        return names
    }

    private let declared = Locked<QueryNames?>(nil)

    /// Whether it accepts an `Idempotency-Key` (X2).
    var isRepeatable: Bool { needsCredential && (method == .post || method == .patch) }

    /// Whether it needs a token or a session.
    var needsCredential: Bool {
        if case .withoutCredential = handler { false } else { true }
    }

    init(
        _ method: Method, _ path: PathTemplate, _ summary: String, isKeyed: Bool = false,
        isCompressed: Bool = false, hasExternalEffects: Bool = false, scope: Token.Scope? = nil,
        needsDiskSpace: Bool = false, takesTokenFromQuery: Bool = false,
        family: APIFamily = .platform, versions: Set<APIVersion>? = nil,
        check: (@Sendable (RequestContext, JSONValue) async throws -> Void)? = nil,
        _ handler: Handler,
        describe: @escaping @Sendable (APIVersion, MessagingLimits) -> Operation
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        self.isKeyed = isKeyed
        self.isCompressed = isCompressed
        self.hasExternalEffects = hasExternalEffects || needsDiskSpace
        self.scope = scope ?? (method == .get ? .read : .write)
        self.needsDiskSpace = needsDiskSpace
        self.takesTokenFromQuery = takesTokenFromQuery
        self.family = family
        self.versions = versions ?? family.versions
        self.check = check
        self.handler = handler
        self.describe = describe
        actsForUser = Self.actsForUser(path)
    }

    /// An endpoint whose description does not depend on limits.
    init(
        _ method: Method, _ path: PathTemplate, _ summary: String, isKeyed: Bool = false,
        isCompressed: Bool = false, hasExternalEffects: Bool = false, scope: Token.Scope? = nil,
        needsDiskSpace: Bool = false, takesTokenFromQuery: Bool = false,
        family: APIFamily = .platform, versions: Set<APIVersion>? = nil,
        check: (@Sendable (RequestContext, JSONValue) async throws -> Void)? = nil,
        _ handler: Handler,
        describe: @escaping @Sendable (APIVersion) -> Operation
    ) {
        self.init(
            method, path, summary, isKeyed: isKeyed, isCompressed: isCompressed,
            hasExternalEffects: hasExternalEffects, scope: scope, needsDiskSpace: needsDiskSpace,
            takesTokenFromQuery: takesTokenFromQuery, family: family,
            versions: versions, check: check, handler,
            describe: { version, _ in describe(version) })
    }
}

extension Endpoint {
    /// Returns the actor that its events record (X3): the user of the session, the user in the path where the server acts
    /// for that user, else the token. For an operator of the console it is always the operator.
    func actor(for user: String?, or caller: Caller) -> EventActor {
        switch caller {
        case .session(let session): return .user(session.user)
        case .account(let account): return .named("console:\(account.name)")
        case .token(let token):
            guard actsForUser, let user = user.flatMap({ UserID($0) }) else {
                return .token(token.id)
            }
            return .user(user)
        }
    }

    /// The scope that a caller of the console needs: `admin` to change webhooks, except to test, retry and replay them,
    /// and to suspend users.
    var consoleScope: Token.Scope {
        guard method != .get else { return scope }
        let path = path.description
        let isHarmless = ["/test", "/retry", "/replay"].contains { path.hasSuffix($0) }
        let needsAdmin =
            path.hasPrefix("/apps/{app}/webhooks") && !isHarmless
            || method == .patch && path == "/apps/{app}/users/{user}"
        return needsAdmin ? .admin : scope
    }

    /// Whether its answer is a stream of stored contents, which cannot be hidden in it.
    var writesContent: Bool { method == .get && path.description == "/apps/{app}/export" }

    /// Returns whether the server acts for the user in the path.
    ///
    /// The other endpoints below a user's path change the user: identity, suspension, badge and sessions.
    static func actsForUser(_ path: PathTemplate) -> Bool {
        let segments = path.description.split(separator: "/")
        return segments.count > 4 && segments[2] == "users"
            && ["conversations", "messages", "announcements", "content", "following", "blocks"]
                .contains(segments[4])
    }

    /// Size limit and deadlines of the body: streams, waiting requests, exports and imports have no time limit.
    var policy: BodyPolicy {
        switch handler {
        case .eventStream: BodyPolicy(limit: BodyPolicy.default.limit, isTimed: false)
        case .streamedBody: BodyPolicy(limit: RequestBodyReader.streamedLimit, isTimed: false)
        case .withoutBody where needsDiskSpace:
            BodyPolicy(limit: BodyPolicy.default.limit, isTimed: false)
        case .withoutBody, .cached, .jsonBody, .withoutCredential: .default
        }
    }
}

extension Endpoint {
    /// All endpoints of the Platform API; each noun's file declares its own. Those of the Client API are ``client``.
    public static let all: [Endpoint] = [
        conversations, participants, messages, parts, views, viewChanges, content, announcements,
        notifications, exports, transfers, events, webhooks, deliveries, identities, following,
        blocks, badges, users, erasures, sessions, providers,
        applications,
    ].flatMap(\.self)

    /// All endpoints of both.
    public static let routed = all + client
}
