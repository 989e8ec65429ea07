public import HTTP
import JSON
import Messaging
public import MessagingWire
import SystemSupport

/// One line of the API: what the router serves, `OPTIONS` tells, the article Endpoints lists and the
/// description describes.
public struct Endpoint: Sendable {
    /// How an endpoint answers.
    enum Handler: Sendable {
        /// From the head alone; a body, which clients do send, is never read.
        case head(@Sendable (RequestContext) async throws -> Reply)
        /// The same, and at once as long as it is remembered; what is recalled is told as it is, so
        /// whoever is to be refused must not be found there.
        case recalled(
            @Sendable (RequestContext) -> Reply?,
            else: @Sendable (RequestContext) async throws -> Reply)
        /// As a stream of events for who asks for one, as an answer for all others; either may last.
        case streamed(
            @Sendable (RequestContext) async throws -> EventStream,
            else: @Sendable (RequestContext) async throws -> Reply)
        /// From a JSON body.
        case body(@Sendable (RequestContext, JSONValue) async throws -> Reply)
        /// From a body of any length, as it comes.
        case pulled(@Sendable (RequestContext, any RequestBody) async throws -> Reply)
    }

    /// The method; `HEAD` goes with `GET`.
    public let method: Method
    /// The path from the root of the server.
    public let path: PathTemplate
    /// The versions that offer it.
    public let versions: Set<APIVersion>
    /// The interface it belongs to.
    public let family: APIFamily
    /// One sentence for people.
    public let summary: String
    /// Whether `If-None-Match` is a key of de-duplication here (platform-api §1.9).
    public let isKeyed: Bool
    /// Whether its answers are compressed for callers who like that, unless one holds a secret
    /// (``Secrets``, H115); never where a secret is what the answer is for.
    public let isCompressed: Bool
    /// What a token has to allow.
    let scope: Token.Scope
    /// Whether it needs room on the disk while it is under way, which lasts as long as it likes.
    let needsDiskSpace: Bool
    /// Whether what it does lies outside the database, so that no transaction can hold it together
    /// with its answer (X2).
    let hasExternalEffects: Bool
    /// Looks at a body and at the world outside before anything is done, so that no transaction has to
    /// wait for the world; `nil` where the body says enough.
    let check: (@Sendable (RequestContext, JSONValue) async throws -> Void)?
    let handler: Handler
    /// What the description says of it in a version that offers it; see `Operation`.
    let describe: @Sendable (APIVersion, MessagingLimits) -> Operation

    /// Whether it is a user's own doing that somebody sees to for him; see `actor(for:or:)`.
    let actsForUser: Bool

    /// The query parameters that its description lists, which are the only ones that its handler sees; read when
    /// a request first has a query.
    var queryNames: QueryNames {
        if let known = declared.withLock({ $0 }) { return known }
        // Versions and limits differ in the shapes of parameters, not in their names.
        let names = QueryNames(
            versions.max().map { version in describe(version, MessagingLimits()).query } ?? [])
        declared.withLock { $0 = names }
        return names
    }

    private let declared = Locked<QueryNames?>(nil)

    /// Whether a repeat is known by an `Idempotency-Key` (X2).
    var isRepeatable: Bool { method == .post || method == .patch }

    init(
        _ method: Method, _ path: PathTemplate, _ summary: String, isKeyed: Bool = false,
        isCompressed: Bool = false, hasExternalEffects: Bool = false, scope: Token.Scope? = nil,
        needsDiskSpace: Bool = false, family: APIFamily = .platform,
        versions: Set<APIVersion>? = nil,
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
        self.family = family
        self.versions = versions ?? family.versions
        self.check = check
        self.handler = handler
        self.describe = describe
        actsForUser = Self.actsForUser(path)
    }

    /// An endpoint that is described alike whatever the limits in force.
    init(
        _ method: Method, _ path: PathTemplate, _ summary: String, isKeyed: Bool = false,
        isCompressed: Bool = false, hasExternalEffects: Bool = false, scope: Token.Scope? = nil,
        needsDiskSpace: Bool = false, family: APIFamily = .platform,
        versions: Set<APIVersion>? = nil,
        check: (@Sendable (RequestContext, JSONValue) async throws -> Void)? = nil,
        _ handler: Handler,
        describe: @escaping @Sendable (APIVersion) -> Operation
    ) {
        self.init(
            method, path, summary, isKeyed: isKeyed, isCompressed: isCompressed,
            hasExternalEffects: hasExternalEffects, scope: scope, needsDiskSpace: needsDiskSpace,
            family: family,
            versions: versions, check: check, handler,
            describe: { version, _ in describe(version) })
    }
}

extension Endpoint {
    /// On whose account its changes are recorded (X3): the user's below whose path somebody acts for
    /// him, else that of the credential.
    func actor(for user: String?, or token: Token.ID) -> EventActor {
        guard actsForUser, let user = user.flatMap({ UserID($0) }) else { return .token(token) }
        return .user(user)
    }

    /// What a user would do himself. The rest below his path is done to him: what is told about him,
    /// his suspension, his badge and his sessions.
    static func actsForUser(_ path: PathTemplate) -> Bool {
        let segments = path.description.split(separator: "/")
        return segments.count > 4 && segments[2] == "users"
            && ["conversations", "messages", "announcements", "content", "following", "blocks"]
                .contains(segments[4])
    }

    /// A stream, a request that waits for an event, and moving an application last as long as they
    /// like.
    var policy: BodyPolicy {
        switch handler {
        case .streamed: BodyPolicy(limit: BodyPolicy.default.limit, isTimed: false)
        case .pulled: BodyPolicy(limit: RequestBodyReader.pulledLimit, isTimed: false)
        case .head where needsDiskSpace: BodyPolicy(limit: BodyPolicy.default.limit, isTimed: false)
        case .head, .recalled, .body: .default
        }
    }
}

extension Endpoint {
    /// Everything the Platform API offers, each line once, kept beside the noun it is about.
    public static let all: [Endpoint] = [
        conversations, messages, parts, views, viewChanges, content, announcements, notifications,
        exports, moving, events, webhooks, deliveries, identities, following, blocks, badges, users,
        applications,
    ].flatMap(\.self)
}
