public import Blobs
public import HTTP
import JSON
public import Messaging
public import MessagingStore
import MessagingWire
public import PlatformAPI
import SystemSupport

/// The API of the operator console, below `/console/api`.
///
/// A request is authenticated by the cookie of a session, or by the token of an application in `Authorization`. What
/// belongs to an application is answered by the handlers of the Platform API.
public final class ConsoleAPI: Sendable {
    let store: MessagingStore
    let platform: PlatformAPI
    let settings: ConsoleSettings
    let server: ConsoleServer
    let clock: @Sendable () -> Timestamp
    let logins: Logins
    let streams: ConsoleStreams
    let jobs: JobRunner
    private let scans = ScanSlots()
    private let viewed = ViewedContents()
    private let rule: RequestRule
    private let router: Router<ConsoleRoute>

    /// - Parameters:
    ///   - server: What the console shows of the server.
    ///   - jobFolder: The folder for the files of jobs.
    ///   - backup: Makes backups; `nil` if the console makes none.
    ///   - publicURL: The setting `public_url`.
    ///   - clock: Returns the current time.
    public init(
        store: MessagingStore, platform: PlatformAPI, settings: ConsoleSettings,
        server: ConsoleServer, jobFolder: BlobFolder, backup: ConsoleBackup?, publicURL: String?,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.platform = platform
        self.settings = settings
        self.server = server
        self.clock = clock
        logins = Logins(store: store, clock: clock)
        streams = ConsoleStreams(store: store, lifetimes: settings.lifetimes)
        jobs = JobRunner(
            store: store, platform: platform, files: JobFiles(in: jobFolder), backup: backup,
            clock: clock)
        rule = RequestRule(publicURL: publicURL, networks: settings.allowedNetworks)
        var router = Router<ConsoleRoute>(allowsTrailingSlash: true)
        for route in ConsoleRoute.all { router.add(route.method, route.path, route) }
        self.router = router
    }

    /// Begins to delete old jobs, and what interrupted ones have left behind. Call it before the first request.
    public func start() async { await jobs.start() }

    /// Stops all jobs, which can be run again.
    public func stop() async { await jobs.stop() }

    /// The path of the API.
    public static let root = "/console/api"

    /// The templates of all routes, for metrics.
    public static var routes: [String] {
        ConsoleRoute.all.map(\.path.description)
    }

    /// Whether a path is that of the API or below it.
    public static func owns(_ path: String) -> Bool {
        path.utf8.starts(with: root.utf8)
            && (path.utf8.count == root.utf8.count || path.utf8.starts(with: "\(root)/".utf8))
    }

    /// The most bytes of a body.
    static let bodyLimit: Int64 = 65_536
    private static let policy = BodyPolicy(limit: bodyLimit)
    /// That of the file of an import: 1 TiB, as with the Platform API.
    private static let filePolicy = BodyPolicy(limit: 1 << 40, isTimed: false)
    /// The lists of the Platform API that may examine many rows.
    private static let scannedLists: Set<String> = [
        "/apps/{app}/conversations", "/apps/{app}/users", "/apps/{app}/events",
    ]

    /// Answers a request to a path that the API ``owns(_:)``.
    public func answer(to request: Request) -> Answer {
        let (route, user, outcome) = routed(request).parts()
        var answer =
            switch outcome {
            case .response(let response): Answer(route, PagePolicy.protecting(response))
            case .work(let policy, let work):
                Answer(route, policy) { body in PagePolicy.protecting(await work(body)) }
            case .upgrade(let upgrade): Answer(route, upgrade)
            }
        answer.user = user
        return answer
    }

    private func routed(_ request: Request) -> Answer {
        do throws(APIError) {
            try rule.check(request)
        } catch {
            return Answer(PlatformAPI.unknownRoute, response(to: error, request))
        }
        let method = request.method
        switch router.match(method, request.target) {
        case .found(let route, _, _)
        where route.yieldsToPatches && PatchType.isNamed(by: request.fields["Content-Type"]):
            return forward(request)
        case .found(let route, let template, let parameters):
            let policy = route.isStreamed ? Self.filePolicy : Self.policy
            return Answer(template.description, policy) { [self] body in
                await answer(request, route, parameters, body)
            }
        case .otherMethods(let template, let allowed):
            return Answer(template.description, methods(allowed, request))
        case .unknown where request.target.path.utf8.starts(with: Self.applications):
            return forward(request)
        case .unknown, .fault:
            let error = APIError(
                .invalidEndpoint, "The console has no endpoint with this method and path.")
            return Answer(PlatformAPI.unknownRoute, response(to: error, request))
        }
    }

    private static let applications = Array("\(root)/apps/".utf8)

    private func methods(_ allowed: [Method], _ request: Request) -> Response {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        guard request.method == .options else {
            var response = response(
                to: APIError(
                    .methodNotAllowed,
                    "\(request.method.rawValue) is not offered here; the path offers \(names)."),
                request)
            response.fields.add("Allow", names)
            return response
        }
        var response = Response.consoleNoContent
        response.fields.add("Allow", names)
        return response
    }

    func response(to error: any Error, _ request: Request) -> Response {
        platform.response(to: error, for: request, of: .platform, limit: Self.bodyLimit)
    }

    // MARK: - Routes of the console

    private func answer(
        _ request: Request, _ route: ConsoleRoute, _ parameters: PathParameters,
        _ body: any RequestBody
    ) async -> Response {
        do {
            let principal = try await principal(of: request, for: route, parameters)
            let (query, ignored) = try Self.query(of: request, route.parameters)
            let bytes = try await Self.bytes(of: body, request, route)
            let console = ConsoleRequest(
                api: self, store: store, request: request, parameters: parameters, query: query,
                body: try Self.json(bytes, route), stream: body, principal: principal)
            var response =
                if route.isScan {
                    try await scans.run { () async throws -> Response in
                        try await route.handle(console)
                    }
                } else {
                    try await reply(to: console, route, bytes)
                }
            if !ignored.isEmpty {
                response.fields.add(Negotiation.ignoredField, Negotiation.list(ignored))
            }
            return response
        } catch {
            return response(to: error, request)
        }
    }

    /// Authenticates a request and checks what its route needs; `nil` for a login.
    private func principal(
        of request: Request, for route: ConsoleRoute, _ parameters: PathParameters
    ) async throws -> ConsolePrincipal? {
        let role: Token.Scope
        var isForOperators = false
        switch route.access {
        case .login: return nil
        case .all(let scope): role = scope
        case .operators(let scope): (role, isForOperators) = (scope, true)
        }
        let principal = try await authenticate(request)
        if let grant = principal.token {
            guard !isForOperators else {
                throw APIError(
                    .accessDenied,
                    "A token of an application cannot do this; log in as an operator.")
            }
            guard !grant.application.isSuspended else {
                throw APIError(.appSuspended, "The application has been suspended.")
            }
            if let path = parameters["app"], Application.ID(uuid: path) != grant.application.id {
                throw APIError(.invalidAppID, "The token does not belong to this application.")
            }
        }
        guard principal.role >= role else {
            throw APIError(
                .accessDenied,
                "The role is `\(principal.role)`; this operation needs `\(role)`.")
        }
        return principal
    }

    /// Authenticates a request by its token, or else by its cookie.
    func authenticate(_ request: Request) async throws -> ConsolePrincipal {
        if request.fields.contains("Authorization") {
            let token: BearerToken
            do throws(BearerToken.Problem) {
                token = try BearerToken(request.fields)
            } catch {
                throw APIError(error)
            }
            guard let grant = try await store.authenticate(token.secret) else {
                throw APIError(BearerToken.Problem.unknown)
            }
            return .token(grant)
        }
        let cookie = try await cookie(for: request)
        guard let token = cookie.value(in: request.fields),
            let grant = try await store.consoleGrant(ofToken: token, settings.lifetimes)
        else {
            throw APIError(
                .authenticationRequired,
                "There is no session, or it has ended; log in with POST /console/api/session.")
        }
        return .session(grant)
    }

    func cookie(for request: Request) async throws -> ConsoleCookie {
        ConsoleCookie(instance: try await store.instanceID(), scheme: request.scheme)
    }

    private static func query(
        of request: Request, _ declared: [String]
    ) throws -> (known: [(name: String, value: String)], ignored: [String]) {
        guard let all = try? request.target.parameters() else {
            throw APIError(.invalidRequest, "The query of the URL cannot be decoded.")
        }
        let known = all.filter { parameter in declared.contains(parameter.name) }
        var ignored: [String] = []
        for (name, _) in all
        where !name.isEmpty && !declared.contains(name) && !ignored.contains(name) {
            ignored.append(name)
        }
        if let name = ignored.first,
            PreferHeader(request.fields)["handling"]?.lowercased() == "strict"
        {
            let list = declared.map { name in "`\(name)`" }.joined(separator: ", ")
            throw APIError(
                .invalidProperty,
                "The query has an unknown parameter; known are \(list.isEmpty ? "none" : list).",
                data: .property(name))
        }
        return (known, ignored)
    }

    /// Handles a request, or returns the answer of the first one with its `Idempotency-Key`.
    private func reply(
        to console: ConsoleRequest, _ route: ConsoleRoute, _ bytes: [UInt8]
    ) async throws -> Response {
        guard route.repetition != .ignored,
            let text = console.request.fields.joined("Idempotency-Key")
        else { return try await route.handle(console) }
        guard let key = IdempotencyKey(text) else {
            throw APIError(
                .invalidRequestID,
                "The Idempotency-Key header must be 1 to \(IdempotencyKey.limit) visible ASCII characters."
            )
        }
        let target = console.request.target
        let pieces = [
            Array(route.method.rawValue.utf8), Array(target.path.utf8),
            Array((target.query ?? "").utf8), bytes,
            // Of a file that is read while it arrives, only the size is compared.
            Array((console.request.fields.joined("Content-Length") ?? "").utf8),
        ]
        let made = Locked<Response?>(nil)
        let work = { @Sendable (store: MessagingStore) async throws -> StoredResponse in
            var console = console
            console.store = store
            let response = try await route.handle(console)
            made.withLock { made in made = response }
            return StoredResponse(
                status: response.status.code, fields: response.fields.bytes,
                body: Self.storedBody(of: response, route))
        }
        // The keys of the console are those of its accounts, in no application.
        let (none, owner) = (
            Application.ID(high: 0, low: 0), UserID(stored: console.principal?.name ?? "")
        )
        let outcome =
            if route.repetition == .replayedOutsideTransaction {
                try await store.doOnceOutsideTransaction(
                    key, of: owner, describedBy: pieces, in: none, work)
            } else {
                try await store.doOnce(key, of: owner, describedBy: pieces, in: none, work)
            }
        switch outcome {
        case .done(let stored): return made.withLock { made in made } ?? Self.response(stored)
        case .replayed(let stored):
            var response = Self.response(stored)
            response.fields.add("Idempotent-Replayed", "true")
            return response
        }
    }

    private static func response(_ stored: StoredResponse) -> Response {
        Response(
            stored.status == 201 ? .created : .ok, fields: ResponseFields(bytes: stored.fields),
            content: .bytes(stored.body ?? Array("{}".utf8)))
    }

    /// The body of an answer as it is stored: secrets are shown once.
    private static func storedBody(of response: Response, _ route: ConsoleRoute) -> [UInt8]? {
        let bytes = response.content.joinedBytes
        guard case .replayed(let secret?) = route.repetition, let bytes,
            let root = try? JSONDocument(bytes).root
        else { return bytes }
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in root.members where name != secret {
                writer.key(name)
                writer.raw(value.raw)
            }
        }
        return writer.finish()
    }

    /// The body of a request; empty for a route that reads it while it arrives.
    private static func bytes(
        of body: any RequestBody, _ request: Request, _ route: ConsoleRoute
    ) async throws -> [UInt8] {
        let bytes = route.isStreamed ? [] : try await body.collect()
        if route.isStreamed || !bytes.isEmpty, request.fields.contains("Content-Encoding") {
            throw APIError(
                .invalidHeader, "The body must have no content coding.",
                data: .header("Content-Encoding"), status: 415)
        }
        return bytes
    }

    private static func json(_ bytes: [UInt8], _ route: ConsoleRoute) throws -> JSONValue {
        guard !bytes.isEmpty else { return try JSONDocument(Array("{}".utf8)).root }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONDocument(bytes).root
        } catch {
            throw APIError(.invalidRequest, "The body is not valid JSON: \(error).")
        }
        let known = route.members
        for (name, _) in try value.asObject().members where !known.contains(name) {
            let list = known.map { name in "`\(name)`" }.joined(separator: ", ")
            throw APIError(
                .invalidProperty,
                "The body has an unknown member; known are \(list.isEmpty ? "none" : list).",
                data: .property(name))
        }
        return value
    }

    // MARK: - Routes of the Platform API

    /// Answers a request below `/console/api/apps/{app}` with the handler of the Platform API.
    private func forward(_ request: Request) -> Answer {
        guard request.method != .options else {
            return Answer(PlatformAPI.unknownRoute, .consoleNoContent)
        }
        let access = ConsoleAccess(hidesContent: !settings.showsContent) { [self] in
            switch try await authenticate(request) {
            case .token(let grant): .token(grant)
            case .session(let grant):
                switch grant.account {
                case .token(let token): .token(token)
                case .named(let account):
                    .named(
                        ConsoleAccount(
                            name: account.name, role: account.role, session: grant.session.id,
                            expiresAt: grant.session.expiresAt))
                }
            }
        }
        let inner = request.below(Self.root)
        let answer = platform.answer(to: inner, through: access)
        let (route, user, outcome) = answer.parts()
        switch outcome {
        case .response(let response): return Answer(route, response)
        case .upgrade:
            return Answer(
                route,
                response(
                    to: APIError(.invalidEndpoint, "The console has no WebSocket."), request))
        case .work(var policy, let work):
            // Imports and uploads have limits of their own.
            if policy.limit == BodyPolicy.default.limit { policy.limit = Self.bodyLimit }
            // A request that waits for events is no search, and would occupy a slot for a minute.
            let isWaiting =
                (try? request.target.parameters())?.contains { $0.name == "wait" } == true
            let isScan =
                request.method == .get && Self.scannedLists.contains(route) && !isWaiting
            var answer = Answer(route, policy) { [self] body in
                guard isScan else { return await finished(await work(body), to: inner) }
                do {
                    return await finished(
                        try await scans.run { () async throws -> Response in await work(body) },
                        to: inner)
                } catch {
                    return self.response(to: error, request)
                }
            }
            answer.user = user
            return answer
        }
    }

    /// Watches an event stream for the end of its session, and records which contents an operator has read.
    private func finished(_ response: Response, to request: Request) async -> Response {
        guard response.status == .ok, !request.fields.contains("Authorization") else {
            return response
        }
        let principal: ConsolePrincipal
        do {
            principal = try await authenticate(request)
        } catch {
            // The session has ended meanwhile.
            return self.response(to: error, request)
        }
        guard let session = principal.session else { return response }
        if case .stream(let handler, _) = response.content, let stream = handler as? EventStream,
            !streams.add(stream, of: session.id)
        {
            return self.response(to: ConsoleStreams.full, request)
        }
        if settings.showsContent, let account = principal.account,
            let shown = platform.shownContents(by: request)
        {
            let place = ViewedContents.Place(shown, in: response)
            guard viewed.isFirst(place, in: session.id) else { return response }
            do {
                try await store.recordAuditEvent(
                    .contentViewed, subject: place.conversation?.uuid, in: place.application,
                    from: AuditOrigin(
                        actor: account.name, address: request.peer.description,
                        request: request.id.description))
            } catch {
                // Contents are shown only if that is recorded.
                viewed.forget(place, in: session.id)
                return self.response(to: error, request)
            }
        }
        return response
    }
}

extension Request {
    /// The same request with the path below a prefix.
    fileprivate func below(_ prefix: String) -> Request {
        let path = String(target.path.dropFirst(prefix.count))
        let query = target.query.map { query in "?\(query)" } ?? ""
        return Request(
            method: method, target: RequestTarget(path + query), fields: fields, framing: framing,
            isHTTP10: isHTTP10, id: id, peer: peer, scheme: scheme, client: client,
            isProxied: isProxied, forwardedHost: forwardedHost)
    }
}
