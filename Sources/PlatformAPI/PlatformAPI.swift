public import HTTP
public import Messaging
public import MessagingStore
import MessagingWire
import Synchronization
public import Uploads

/// The server-to-server interface: everything under `/apps/{app}`.
///
/// A request goes through the ``RequestChecks``, then to the handler of its line in ``Endpoint/all``, which
/// reads a draft, asks the store once, and writes a shape.
public final class PlatformAPI: Service {
    let store: MessagingStore
    let uploads: Uploads
    let downloads: Downloads
    let publicBase: PublicBaseURL
    let clock: @Sendable () -> Timestamp
    let newContentID: @Sendable () -> Messaging.Content.ID
    /// The addresses of a host; empty when nobody knows it.
    let resolveHost: @Sendable (String) async -> [PeerAddress]
    let onFault: @Sendable (any Error, RequestID) -> FaultKind
    let settings: PlatformSettings
    private let description: Description
    private let errorPage = ErrorPage()
    let limiter: RateLimiter
    let memory: MessageCache
    /// The live ends of the logs.
    let tails: LiveEventLogs
    /// How many read events as they come.
    let streams: StreamLimits
    /// Exports that are under way, and imports.
    let exports: TransferSlots
    let imports: TransferSlots
    private let crossOrigin: CORSPolicy
    private let acceptIsStrict: Atomic<Bool>
    private let router: Router<Endpoint>

    /// What a fault of ours means to the caller.
    public enum FaultKind: Sendable {
        /// A needed part is not there now: 503, try again (code 1).
        case unavailable
        /// Everything else: 500 without a word about why (code 100).
        case unexpected
    }

    /// Puts the interface together.
    ///
    /// - Parameters:
    ///   - publicBase: What every URL in an answer begins with.
    ///   - clock: Now; download URLs are signed as of then.
    ///   - newContentID: Makes the id of a content.
    ///   - resolveHost: The addresses of a host, and soon; empty when nobody knows it.
    ///   - onFault: Told of every fault once, to log it; says what kind it is.
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
        description = Description(publicBase, store.limits)
        limiter = RateLimiter(settings.rateLimit)
        acceptIsStrict = Atomic(settings.strictAccept)
        memory = MessageCache(budget: settings.memory)
        crossOrigin = CORSPolicy(settings)
        exports = TransferSlots(atMost: settings.maximumTransfers)
        imports = TransferSlots(atMost: settings.maximumTransfers)
        streams = StreamLimits(
            maximum: settings.maximumStreams, maximumPerUser: settings.maximumStreamsPerToken)
        tails = LiveEventLogs(
            store: store,
            frames: EventEncoder(publicBase: publicBase.text, downloads: downloads)
        ) { error in
            // Nobody's request: whoever streams goes on when it has passed.
            _ = onFault(error, RequestID(high: 0, low: 0))
        }
        var router = Router<Endpoint>(allowsTrailingSlash: true)
        for endpoint in Endpoint.all { router.add(endpoint.method, endpoint.path, endpoint) }
        self.router = router
    }

    /// Takes over a new limit and a new rule for `Accept` while requests are served; the other settings hold from
    /// the start on.
    public func apply(_ settings: PlatformSettings) {
        limiter.apply(settings.rateLimit)
        acceptIsStrict.store(settings.strictAccept, ordering: .relaxed)
    }

    /// Whether only a media type with a version is accepted (ruling 31).
    var isAcceptStrict: Bool { acceptIsStrict.load(ordering: .relaxed) }

    /// How well answers are remembered.
    public var messageCacheStatistics: MessageCacheStatistics { memory.statistics }

    /// Streams of events that are open, and requests that wait for one.
    public var openStreams: Int { streams.count }

    /// Requests refused because their token sent too many.
    public var rateLimitedRequests: Int { limiter.refused }

    /// Decides from the head; what needs the database or the body becomes work.
    public func answer(to request: Request) -> Answer {
        route(request).with(crossOrigin, for: request)
    }

    /// Answers with the page that explains each error (ruling 32); it needs no credential.
    public func explainErrors(_ request: Request, _ route: String) -> Answer {
        Answer(route, errorPage.response(to: request))
    }

    /// Describes the interface to everybody: OpenAPI 3.1, of the version in `?version=` (X11).
    public func describe(_ request: Request, _ route: String) -> Answer {
        Answer(route) { [description] _ in await description.response(to: request) }
            .with(crossOrigin, for: request)
    }

    private func route(_ request: Request) -> Answer {
        let method = request.effectiveMethod
        switch router.match(method, request.target) {
        case .found(let endpoint, let template, let parameters):
            let gate = RequestChecks(
                api: self, request: request, endpoint: endpoint, parameters: parameters)
            var answer = answer(gate, template.description)
            answer.user = parameters["user"]
            return answer
        case .otherMethods(let template, let allowed):
            return Answer(template.description, methods(allowed, request))
        case .unknown:
            return Answer(Self.unknownRoute, response(to: .unknownEndpoint(request), for: request))
        case .fault(let fault):
            return Answer(Self.unknownRoute, response(to: APIError(fault), for: request))
        }
    }

    /// What the HTTP layer refuses, as an error object.
    public func refusal(_ refusal: Refusal) -> Response {
        var response = response(to: APIError(refusal))
        response.status = refusal.status
        return response
    }

    /// The route in the log of a request that matches none: never the path itself (H212).
    public static let unknownRoute = "unknown"

    /// The answer to a request without a valid credential (H210, H211): what its head says, and of a
    /// well-formed token nothing.
    public func unauthenticated(_ request: Request) -> Response {
        do throws(BearerToken.Problem) {
            _ = try BearerToken(request.fields)
            return response(to: APIError(.unknown), for: request)
        } catch {
            return response(to: APIError(error), for: request)
        }
    }

    /// An error as this server answers it.
    ///
    /// - Parameter request: The request that meets it; `nil` where it is not known.
    func response(to error: APIError, for request: Request? = nil) -> Response {
        error.response(publicBase: request.map(publicBase.of) ?? publicBase.text)
    }

    /// `OPTIONS` of a known path, a preflight or not, or a method it does not offer (H65, H69, H70).
    ///
    /// No credential is asked for and no handler runs (H123).
    func methods(_ allowed: [Method], _ request: Request) -> Response {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        guard request.method == .options else {
            return APIError.methodNotAllowed(request.effectiveMethod, allowed: names)
                .reply(publicBase: publicBase.of(request)).adding("Allow", names).response
        }
        var response = Reply.noContent.adding("Allow", names).response
        if allowed.contains(.patch) { response.fields.add("Accept-Patch", PatchType.name) }
        crossOrigin.addPreflight(to: &response.fields, for: request, methods: names)
        return response
    }
}
