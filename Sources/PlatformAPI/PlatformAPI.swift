public import HTTP
public import Messaging
public import MessagingStore
import MessagingWire
import Synchronization
public import Uploads
import WebSockets

/// The REST APIs: the Platform API under `/apps/{app}` for the servers of applications, and the Client API for their
/// users, with the same handlers.
///
/// A request passes the ``RequestChecks`` and then runs the handler of its ``Endpoint``, which reads the body, calls
/// the store once, and writes the answer.
public final class PlatformAPI: Service {
    let store: MessagingStore
    package let uploads: Uploads
    let downloads: Downloads
    let publicBase: PublicBaseURL
    let clock: @Sendable () -> Timestamp
    let newContentID: @Sendable () -> Messaging.Content.ID
    /// Returns the addresses of a host; empty when the host is unknown.
    let resolveHost: @Sendable (String) async -> [PeerAddress]
    let onFault: @Sendable (any Error, RequestID) -> FaultKind
    let settings: PlatformSettings
    private let description: APIDescription
    /// The rate limit of tokens and sessions.
    let limiter: RateLimiter<Token.ID>
    /// The rate limit of addresses that log in with `POST /dev/login`.
    let developmentLogins: RateLimiter<String>
    let messageCache: MessageCache
    /// The live event logs of all applications.
    let liveLogs: LiveEventLogs
    /// The live feeds of the users of all applications.
    let liveFeeds: LiveFeeds
    /// Typing and presence of the users of all applications.
    let signals: LiveSignals
    /// The handshake of WebSockets.
    let webSockets: WebSocketEndpoint
    let feedCache = FeedCache()
    let packetCache = PacketCache()
    /// Counts the event streams and waiting requests.
    let streams: StreamLimits
    /// Limits the exports that run at a time.
    package let exports: TransferSlots
    /// Limits the imports that run at a time.
    package let imports: TransferSlots
    private let crossOrigin: CORSPolicy
    private let clientCrossOrigin: CORSPolicy
    private let acceptIsStrict: Atomic<Bool>
    /// The number of open WebSockets.
    let sockets = Atomic(0)
    private let router: Router<Endpoint>

    /// The meaning of a fault of the server for the client.
    public enum FaultKind: Sendable {
        /// A dependency such as the database is unavailable: 503, so that the client retries (code 1).
        case unavailable
        /// Any other fault: 500 without the reason (code 100).
        case unexpected
    }

    /// - Parameters:
    ///   - publicBase: The base of every URL in an answer.
    ///   - clock: Returns the current time.
    ///   - newContentID: Creates the id of a content.
    ///   - resolveHost: Returns the addresses of a host within seconds; empty when it is unknown.
    ///   - onFault: Called once for each fault, to log it; returns its kind.
    public init(
        store: MessagingStore, uploads: Uploads, downloads: Downloads, publicBase: PublicBaseURL,
        settings: PlatformSettings = PlatformSettings(),
        clock: @escaping @Sendable () -> Timestamp,
        newContentID: @escaping @Sendable () -> Messaging.Content.ID,
        resolveHost: @escaping @Sendable (String) async -> [PeerAddress],
        onFault: @escaping @Sendable (any Error, RequestID) -> FaultKind
    ) {
        self.store = store
        self.uploads = uploads
        self.downloads = downloads
        self.publicBase = publicBase
        self.clock = clock
        self.newContentID = newContentID
        self.resolveHost = resolveHost
        self.onFault = onFault
        self.settings = settings
        description = APIDescription(publicBase, store.limits)
        limiter = RateLimiter(settings.rateLimit)
        developmentLogins = RateLimiter(settings.developmentLoginLimit)
        acceptIsStrict = Atomic(settings.strictAccept)
        messageCache = MessageCache(budget: settings.memory)
        crossOrigin = CORSPolicy(settings, allowsCredentials: false)
        clientCrossOrigin = CORSPolicy(settings, allowsCredentials: true)
        exports = TransferSlots(atMost: settings.maximumTransfers)
        imports = TransferSlots(atMost: settings.maximumTransfers)
        streams = StreamLimits(maximum: settings.maximumStreams)
        liveLogs = LiveEventLogs(
            store: store,
            frames: EventEncoder(publicBase: publicBase.text, downloads: downloads)
        ) { error in
            // No request caused this fault, so its id is zero; the streams continue when reading succeeds again.
            _ = onFault(error, RequestID(high: 0, low: 0))
        }
        liveFeeds = LiveFeeds(store: store, receiptInterval: settings.wideReceiptInterval) {
            error in
            _ = onFault(error, RequestID(high: 0, low: 0))
        }
        signals = LiveSignals(
            store: store, feeds: liveFeeds, step: settings.typingStep,
            grace: settings.presenceGrace,
            clock: clock
        ) { error in
            _ = onFault(error, RequestID(high: 0, low: 0))
        }
        webSockets = WebSocketEndpoint(WebSocketSettings(settings))
        var router = Router<Endpoint>(allowsTrailingSlash: true)
        for endpoint in Endpoint.routed { router.add(endpoint.method, endpoint.path, endpoint) }
        self.router = router
    }

    /// Applies a new rate limit and a new rule for `Accept` while requests are served; other changes need a restart.
    public func apply(_ settings: PlatformSettings) {
        limiter.apply(settings.rateLimit)
        acceptIsStrict.store(settings.strictAccept, ordering: .relaxed)
    }

    /// Whether only a media type with a version is accepted (ruling 31).
    var isAcceptStrict: Bool { acceptIsStrict.load(ordering: .relaxed) }

    /// Hits and misses of the cache of message answers.
    public var messageCacheStatistics: MessageCacheStatistics { messageCache.statistics }

    /// The number of open event streams and waiting requests.
    public var openStreams: Int { streams.count }

    /// The number of open WebSockets.
    public var openSockets: Int { sockets.load(ordering: .relaxed) }

    /// Receives a signal that a process has passed on: typing or presence (client-api §5.7, §5.8).
    public func receive(
        _ signal: [UInt8], from process: String, in application: Application.ID
    ) {
        signals.receive(signal, from: process, in: application)
    }

    /// Shows the sender of a scheduled message as typing (platform-api §5.2.1).
    public func show(_ typing: ScheduledTyping) {
        signals.type(
            by: typing.user, in: typing.conversation, of: typing.application, until: typing.until)
    }

    /// The number of requests refused by the rate limit.
    public var rateLimitedRequests: Int { limiter.refused }

    /// Answers from the header section where possible; the rest, which needs the database or the body, runs
    /// asynchronously.
    public func answer(to request: Request) -> Answer {
        route(request).with(crossOrigin(for: request), for: request)
    }

    /// Answers `GET /` with where the resources of the Client API are (client-api §1.2), or with a WebSocket if the request
    /// is a handshake (client-api §5.1). A session token that is no
    /// longer valid gets 401 with a nonce, by which the web SDK learns that its session has ended.
    ///
    /// - Parameter body: The JSON of the answer.
    public func answerRoot(_ request: Request, _ route: String, _ body: [UInt8]) -> Answer {
        if isHandshake(request) { return openSocket(request) }
        let links = ["nonces", "sessions", "conversations", "content"].map { name in
            "<\(publicBase.of(request))/\(name)>; rel=\(name)"
        }
        let resources = Reply(.ok, body).adding("Link", links.joined(separator: ", ")).response
        guard let token = try? SessionToken(request.fields) else {
            return Answer(route, resources).with(clientCrossOrigin, for: request)
        }
        return Answer(route) { [self] _ in
            do {
                guard try await store.authenticateSession(token.bytes) == nil else {
                    return resources
                }
                return response(to: try await challenge(.unknown), for: request)
            } catch {
                _ = onFault(error, request.id)
                return response(
                    to: APIError(.serviceUnavailable, "The service is not available now."),
                    for: request)
            }
        }.with(clientCrossOrigin, for: request)
    }

    /// Answers `GET` and `HEAD /ping`, with which clients find out whether the network is back (client-api §1.2).
    public func ping(_ request: Request, _ route: String) -> Answer {
        Answer(route, Reply(.ok).response).with(clientCrossOrigin, for: request)
    }

    /// Answers `OPTIONS`, or a method that a path of the Client API outside of ``Endpoint/client`` does not offer.
    public func clientMethods(_ allowed: [Method], _ request: Request, _ route: String) -> Answer {
        Answer(route, methods(allowed, request)).with(clientCrossOrigin, for: request)
    }

    private func crossOrigin(for request: Request) -> CORSPolicy {
        request.target.path.utf8.starts(with: "/apps/".utf8) ? crossOrigin : clientCrossOrigin
    }

    /// Answers with the OpenAPI 3.1 document of the version in `?version=` (X11); no credential is needed.
    public func describe(_ request: Request, _ route: String) -> Answer {
        Answer(route) { [description] _ in await description.response(to: request) }
            .with(crossOrigin, for: request)
    }

    /// Answers a request that the console has received for a path below `/apps`, in version 3.0 and with the same handler.
    ///
    /// - Parameter request: The request with the path of the Platform API.
    public func answer(to request: Request, through console: ConsoleAccess) -> Answer {
        route(request) { checks in
            checks.fixedVersion = .v3_0
            checks.console = console
        }
    }

    /// Finds the endpoint of a request.
    func match(_ request: Request) -> Router<Endpoint>.Match {
        router.match(request.effectiveMethod, request.target)
    }

    private func route(
        _ request: Request, adjusting adjust: (inout RequestChecks) -> Void = { _ in }
    ) -> Answer {
        if Endpoint.socketPaths.contains(request.target.path) { return openSocket(request) }
        switch match(request) {
        case .found(let endpoint, let template, let parameters):
            var checks = RequestChecks(
                api: self, request: request, endpoint: endpoint, parameters: parameters)
            adjust(&checks)
            var answer = answer(checks, template.description)
            answer.user = parameters["user"]
            return answer
        case .otherMethods(let template, let allowed):
            return unrouted(request, template.description, methods(allowed, request))
        case .unknown:
            let error = APIError.unknownEndpoint(request)
            return unrouted(request, Self.unknownRoute, response(to: error, for: request))
        case .fault(let fault):
            return unrouted(request, Self.unknownRoute, response(to: APIError(fault), for: request))
        }
    }

    /// Returns the answer to a request that no endpoint handles. It names the version that the client accepts, if any
    /// (ruling 31); the answer to `OPTIONS` names none.
    private func unrouted(_ request: Request, _ route: String, _ response: Response) -> Answer {
        guard request.method != .options,
            let version = APIVersion(accept: request.fields.joined("Accept"))
        else { return Answer(route, response) }
        var response = response
        response.fields.add(Negotiation.versionField, version.rawValue)
        return Answer(route, response)
    }

    /// Returns the 413 for a body that is too long; its text names the limit and what to do.
    public func bodyTooLarge(limit: Int64) -> Response {
        response(to: RequestBodyReader.tooLarge(limit))
    }

    /// Returns the 405 for `TRACE`; its text names the methods that the path offers.
    public func traceNotOffered(allowed: String) -> Response {
        response(to: .methodNotAllowed("TRACE", allowed: allowed))
    }

    /// Returns the error object for a request that the HTTP layer refuses.
    public func refusal(_ refusal: Refusal) -> Response {
        var response = response(to: APIError(refusal))
        response.status = refusal.status
        return response
    }

    /// The route that is logged for a request that matches none: never the path itself (H212).
    public static let unknownRoute = "unknown"

    /// Returns the answer to a request without a valid credential (H210, H211): it says what is wrong with the header,
    /// and nothing about a well-formed token.
    public func unauthenticated(_ request: Request) -> Response {
        do throws(BearerToken.Problem) {
            _ = try BearerToken(request.fields)
            return response(to: APIError(.unknown), for: request)
        } catch {
            return response(to: APIError(error), for: request)
        }
    }

    /// Returns the response to an error.
    ///
    /// - Parameter request: The request that failed; `nil` where it is unknown.
    func response(to error: APIError, for request: Request? = nil) -> Response {
        error.response(publicBase: request.map(publicBase.of) ?? publicBase.text)
    }

    /// Answers `OPTIONS` of a known path, also a preflight request, or a method that the path does not offer (H65, H69,
    /// H70).
    ///
    /// No credential is needed and no handler runs (H123).
    func methods(_ allowed: [Method], _ request: Request) -> Response {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        guard request.method == .options else { return methodNotAllowed(allowed, request) }
        var response = Reply.noContent.adding("Allow", names).response
        if allowed.contains(.patch) { response.fields.add("Accept-Patch", PatchType.name) }
        crossOrigin(for: request).addPreflight(to: &response.fields, for: request, methods: names)
        return response
    }

    /// Returns the error for a method that a path does not offer; its text and `Allow` name those that it offers (H65).
    public func methodNotAllowed(_ allowed: [Method], _ request: Request) -> Response {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return APIError.methodNotAllowed(request.effectiveMethod.rawValue, allowed: names)
            .reply(publicBase: publicBase.of(request)).adding("Allow", names).response
    }
}
