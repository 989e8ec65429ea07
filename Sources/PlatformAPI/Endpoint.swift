public import HTTP
import JSON
import Locking
import Messaging
public import MessagingWire

/// One line of the API: what the router serves, `OPTIONS` tells, the article Endpoints lists and the
/// description describes.
public struct Endpoint: Sendable {
    /// How an endpoint answers.
    enum Handler: Sendable {
        /// From the head alone; a body, which clients do send, is never read.
        case head(@Sendable (Call) async throws -> Reply)
        /// The same, and at once as long as it is remembered; what is recalled is told as it is, so
        /// whoever is to be refused must not be found there.
        case recalled(@Sendable (Call) -> Reply?, else: @Sendable (Call) async throws -> Reply)
        /// As a stream of events for who asks for one, as an answer for all others; either may last.
        case streamed(
            @Sendable (Call) async throws -> EventStream,
            else: @Sendable (Call) async throws -> Reply)
        /// From a JSON body.
        case body(@Sendable (Call, JSONValue) async throws -> Reply)
        /// From a body of any length, as it comes.
        case pulled(@Sendable (Call, any RequestBody) async throws -> Reply)
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
    let needsRoom: Bool
    /// Whether what it does lies outside the database, so that no transaction can hold it together
    /// with its answer (X2).
    let reachesOutside: Bool
    /// Looks at a body and at the world outside before anything is done, so that no transaction has to
    /// wait for the world; `nil` where the body says enough.
    let check: (@Sendable (Call, JSONValue) async throws -> Void)?
    let handler: Handler
    /// What the description says of it in a version that offers it; see `Operation`.
    let describe: @Sendable (APIVersion, MessagingLimits) -> Operation

    /// Whether it is a user's own doing that somebody sees to for him; see `actor(for:or:)`.
    let isOnBehalf: Bool

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
        isCompressed: Bool = false, reachesOutside: Bool = false, scope: Token.Scope? = nil,
        needsRoom: Bool = false, family: APIFamily = .platform,
        versions: Set<APIVersion>? = nil,
        check: (@Sendable (Call, JSONValue) async throws -> Void)? = nil, _ handler: Handler,
        describe: @escaping @Sendable (APIVersion, MessagingLimits) -> Operation
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        self.isKeyed = isKeyed
        self.isCompressed = isCompressed
        self.reachesOutside = reachesOutside || needsRoom
        self.scope = scope ?? (method == .get ? .read : .write)
        self.needsRoom = needsRoom
        self.family = family
        self.versions = versions ?? family.versions
        self.check = check
        self.handler = handler
        self.describe = describe
        isOnBehalf = Self.isOnBehalf(path)
    }

    /// An endpoint that is described alike whatever the limits in force.
    init(
        _ method: Method, _ path: PathTemplate, _ summary: String, isKeyed: Bool = false,
        isCompressed: Bool = false, reachesOutside: Bool = false, scope: Token.Scope? = nil,
        needsRoom: Bool = false, family: APIFamily = .platform,
        versions: Set<APIVersion>? = nil,
        check: (@Sendable (Call, JSONValue) async throws -> Void)? = nil, _ handler: Handler,
        describe: @escaping @Sendable (APIVersion) -> Operation
    ) {
        self.init(
            method, path, summary, isKeyed: isKeyed, isCompressed: isCompressed,
            reachesOutside: reachesOutside, scope: scope, needsRoom: needsRoom, family: family,
            versions: versions, check: check, handler,
            describe: { version, _ in describe(version) })
    }
}
