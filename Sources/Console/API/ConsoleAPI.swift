public import HTTP
import JSON
public import Messaging
public import MessagingStore
import MessagingWire
public import PlatformAPI

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
    private let viewed = ViewedContents()
    private let rule: RequestRule
    private let router: Router<ConsoleRoute>

    /// - Parameters:
    ///   - server: What the console shows of the server.
    ///   - publicURL: The setting `public_url`.
    ///   - clock: Returns the current time.
    public init(
        store: MessagingStore, platform: PlatformAPI, settings: ConsoleSettings,
        server: ConsoleServer, publicURL: String?, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.platform = platform
        self.settings = settings
        self.server = server
        self.clock = clock
        logins = Logins(store: store, clock: clock)
        streams = ConsoleStreams(store: store, lifetimes: settings.lifetimes)
        rule = RequestRule(publicURL: publicURL, networks: settings.allowedNetworks)
        var router = Router<ConsoleRoute>(allowsTrailingSlash: true)
        for route in ConsoleRoute.all { router.add(route.method, route.path, route) }
        self.router = router
    }

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

    /// Answers a request to a path that the API ``owns(_:)``.
    public func answer(to request: Request) -> Answer {
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
            return Answer(template.description, Self.policy) { [self] body in
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
            let value = try await Self.json(of: body, request, route)
            var response = try await route.handle(
                ConsoleRequest(
                    api: self, request: request, parameters: parameters, query: query, body: value,
                    principal: principal))
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

    private static func json(
        of body: any RequestBody, _ request: Request, _ route: ConsoleRoute
    ) async throws -> JSONValue {
        let empty = Array("{}".utf8)
        let bytes = try await body.collect()
        if bytes.isEmpty { return try JSONDocument(empty).root }
        guard !request.fields.contains("Content-Encoding") else {
            throw APIError(
                .invalidHeader, "The body must have no content coding.",
                data: .header("Content-Encoding"), status: 415)
        }
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
            var answer = Answer(route, policy) { [self] body in
                let response = await work(body)
                return await finished(response, to: inner)
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
