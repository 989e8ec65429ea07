import Console
import HTTP
import JSON
import MessagingWire
import PlatformAPI
import Uploads

/// Answers every request: routes it to the API, uploads or downloads, or to one of the server's own
/// paths.
final class ServerService: Service {
    private let api: PlatformAPI
    private let uploads: Uploads
    private let downloads: Downloads
    private let readiness: Readiness
    private let metrics: MetricsEndpoint
    private let console: Console
    /// `nil` if there is no console.
    private let consoleAPI: ConsoleAPI?
    private let hosts: HostRule
    private let probe: ReadinessProbe
    private let publicBase: PublicBaseURL
    private let router: Router<Route>
    /// Whether it answers what belongs to the modules, and not only pages.
    private let servesModules: Bool

    /// The paths that a service answers.
    enum Part {
        case all
        /// All but the console, which has addresses of its own.
        case withoutConsole
        /// The console with its files, the documentation, and whether the server is ready.
        case console

        fileprivate func includes(_ page: Page) -> Bool {
            switch page {
            case .console, .consolePage, .consoleList, .consoleObject, .consoleTab:
                self != .withoutConsole
            case .asset, .description, .documentation, .search, .article, .operations, .live,
                .ready:
                true
            case .root, .ping, .demo, .metrics: self != .console
            }
        }
    }

    /// Creates the service from its modules.
    ///
    /// - Parameters:
    ///   - part: What it answers; anything else is 404.
    ///   - consoleAPI: The API of the console; `nil` if there is none.
    ///   - servesDocumentation: Whether the paths below `/docs` exist.
    init(
        _ part: Part, api: PlatformAPI, uploads: Uploads, downloads: Downloads,
        readiness: Readiness, metrics: MetricsEndpoint, probe: ReadinessProbe,
        publicBase: PublicBaseURL,
        console: Console, consoleAPI: ConsoleAPI?, hosts: HostRule, servesDocumentation: Bool
    ) {
        self.api = api
        self.uploads = uploads
        self.downloads = downloads
        self.readiness = readiness
        self.metrics = metrics
        self.publicBase = publicBase
        self.probe = probe
        self.console = console
        self.consoleAPI = part == .withoutConsole ? nil : consoleAPI
        self.hosts = hosts
        servesModules = part != .console
        var router = Router<Route>(allowsTrailingSlash: true)
        if servesModules { router.add(.post, Self.login, .login) }
        for page in Page.allCases where part.includes(page) {
            switch page {
            case .metrics where !metrics.isOpen: continue
            case .documentation, .search, .article, .operations:
                if servesDocumentation { router.add(.get, page.path, .page(page)) }
            case .console, .consolePage, .consoleList, .consoleObject, .consoleTab:
                if consoleAPI != nil { router.add(.get, page.path, .page(page)) }
            default: router.add(.get, page.path, .page(page))
            }
        }
        self.router = router
    }

    func answer(to request: Request) -> Answer {
        let path = request.target.path.utf8
        if servesModules {
            if path.starts(with: Self.apps) { return api.answer(to: request) }
            if path.starts(with: Self.uploads) || path.elementsEqual(Self.creation) {
                return uploads.answer(to: request, by: api)
            }
            if path.starts(with: Self.download) { return downloads.answer(to: request) }
        }
        if let consoleAPI, ConsoleAPI.owns(request.target.path) {
            guard hosts.admits(request) else {
                return Answer(PlatformAPI.unknownRoute, refusal(Self.unknownHost))
            }
            return consoleAPI.answer(to: request)
        }
        switch router.match(request.method, request.target) {
        case .found(.page(let page), let template, let parameters):
            return answer(page, to: request, template.description, parameters)
        case .found(.login, let template, _) where !hosts.admits(request):
            return Answer(template.description, refusal(Self.unknownHost))
        case .found(.login, _, _): return api.answer(to: request)
        case .otherMethods(let template, _) where template == Self.login:
            return api.answer(to: request)
        case .otherMethods(let template, let allowed):
            if path.elementsEqual("/".utf8) || path.elementsEqual("/ping".utf8) {
                return api.clientMethods(allowed, request, template.description)
            }
            return Answer(template.description, methods(allowed, of: request))
        case .unknown, .fault:
            return servesModules
                ? api.answer(to: request) : Answer(PlatformAPI.unknownRoute, Response(.notFound))
        }
    }

    func refusal(_ refusal: Refusal) -> Response { api.refusal(refusal) }

    func bodyTooLarge(limit: Int64) -> Response { api.bodyTooLarge(limit: limit) }

    func traceNotOffered(allowed: String) -> Response { api.traceNotOffered(allowed: allowed) }

    /// What is answered here, or only under known hosts.
    private enum Route {
        case page(Page)
        /// The development login, which the API answers.
        case login
    }

    private static let login: PathTemplate = "/dev/login"

    /// The paths that belong to no module.
    enum Page: CaseIterable {
        case root, ping, description, documentation, search, article, operations, demo
        case console, consolePage, consoleList, consoleObject, consoleTab, asset
        case live, ready, metrics

        var path: PathTemplate {
            switch self {
            case .root: "/"
            case .ping: "/ping"
            case .description: "/openapi.json"
            case .documentation: "/docs"
            case .search: "/docs/search"
            case .article: "/docs/{article}"
            case .operations: "/docs/api/{noun}"
            case .demo: "/demo"
            case .console: "/console"
            case .consolePage: "/console/{page}"
            case .consoleList: "/console/a/{app}/{list}"
            case .consoleObject: "/console/a/{app}/{list}/{id}"
            case .consoleTab: "/console/a/{app}/{list}/{id}/{tab}"
            case .asset: "/console/assets/{hash}/{folder}/{file}"
            case .live: "/health/live"
            case .ready: "/health/ready"
            case .metrics: MetricsEndpoint.path
            }
        }

        /// Whether the page acts with a login of the browser, and is refused under the name of another site.
        var needsKnownHost: Bool {
            switch self {
            case .demo, .console, .consolePage, .consoleList, .consoleObject, .consoleTab, .asset:
                true
            case .root, .ping, .description, .documentation, .search, .article, .operations, .live,
                .ready, .metrics:
                false
            }
        }

        /// One sentence for people.
        var summary: String {
            switch self {
            case .root: "Names the server and links to its resources."
            case .ping: "Answers 200 without a body, for clients that test their connection."
            case .description:
                "Describes the Platform API in OpenAPI 3.1; `?api=client` the Client API, `?version=` another version."
            case .documentation: "The documentation of this release, as HTML pages."
            case .search: "Finds sections of the documentation that have all words of `?q=`."
            case .article:
                "An article of the documentation; `errors` explains each error of the API."
            case .operations: "The reference of the operations on a noun, such as `messages`."
            case .demo: "Two users in a browser who exchange messages; only with `api.dev_login`."
            case .console: "The operator console, as an HTML page; it shows the overview."
            case .consolePage: "A page of the operator console, such as `apps` or `audit`."
            case .consoleList:
                "A page of an application in the operator console, such as `conversations` or `log`."
            case .consoleObject: "An object in the operator console, such as a conversation."
            case .consoleTab: "A tab of an object in the operator console, such as `metadata`."
            case .asset:
                "A script, style sheet or image of the pages; the hash is that of the release."
            case .live: "Whether the process answers; never reads the database."
            case .metrics: "Metrics for Prometheus, with `metrics.token` or at `metrics.listen`."
            case .ready:
                "Whether the server is ready: reads the database; if not, `reason` says why."
            }
        }
    }

    private static let apps = Array("/apps/".utf8)
    private static let uploads = Array("/uploads/".utf8)
    private static let creation = Array(Uploads.creationRoute.utf8)
    private static let download = Array("/download/".utf8)

    /// The answer to a request that names another host, which may be that of another site's page.
    private static let unknownHost = Refusal(
        .misdirected, "H37",
        "The host of the request is unknown; use an IP address, localhost or the host of public_url, or add the host to http.allowed_hosts."
    )

    private func answer(
        _ page: Page, to request: Request, _ route: String, _ parameters: PathParameters
    ) -> Answer {
        switch page {
        case _ where page.needsKnownHost && !hosts.admits(request):
            Answer(route, refusal(Self.unknownHost))
        case .demo: console.demo(request, route)
        case .console, .consolePage, .consoleList, .consoleObject, .consoleTab:
            console.operatorPage(request, route)
        case .asset:
            console.asset(
                request, route, hash: parameters["hash"],
                path: "\(parameters["folder"] ?? "")/\(parameters["file"] ?? "")")
        case .documentation: console.start(request, route)
        case .search: console.search(request, route)
        case .article: console.article(request, route, path: parameters["article"] ?? "")
        case .operations:
            console.article(request, route, path: "api/\(parameters["noun"] ?? "")")
        case .metrics where metrics.admits(request): metrics.answer(to: request)
        case .metrics: Answer(route, api.unauthenticated(request))
        case .root: api.answerRoot(request, route, greeting(publicBase.of(request)))
        case .ping: api.ping(request, route)
        case .description: api.describe(request, route)
        case .live: Answer(route, Self.health(nil))
        case .ready:
            if let reason = readiness.reason {
                Answer(route, Self.health(reason))
            } else {
                Answer(route) { [probe] _ in Self.health(await probe.fault()) }
            }
        }
    }

    private func greeting(_ publicURL: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("name", Release.name)
            writer.member("version", Release.version)
            writer.key("links")
            writer.object { writer in
                writer.member("self", "\(publicURL)/")
                writer.member("applications", "\(publicURL)/apps/{app}")
                writer.member("description", "\(publicURL)\(Page.description.path)")
                writer.member("errors", "\(publicURL)\(ErrorJSON.page)")
                if consoleAPI != nil {
                    writer.member("console", "\(publicURL)\(Page.console.path)")
                }
                writer.member("live", "\(publicURL)/health/live")
                writer.member("ready", "\(publicURL)/health/ready")
            }
        }
        return writer.bytes
    }

    private static func health(_ reason: UnreadyReason?) -> Response {
        guard let reason else { return json(.ok, Array(#"{"status":"ok"}"#.utf8)) }
        var response = json(
            .serviceUnavailable,
            Array(#"{"status":"unavailable","reason":"\#(reason.rawValue)"}"#.utf8))
        // A restart elsewhere takes about a minute (H98).
        response.fields.add("Retry-After", "60")
        return response
    }

    private static func json(_ status: Status, _ bytes: [UInt8]) -> Response {
        var response = Response(status, "application/json", bytes)
        response.fields.add("Cache-Control", "no-store")
        return response
    }

    private func methods(_ allowed: [Method], of request: Request) -> Response {
        guard request.method == .options else { return api.methodNotAllowed(allowed, request) }
        var response = Response(.noContent)
        response.fields.add("Allow", allowed.map(\.rawValue).joined(separator: ", "))
        response.fields.add("Cache-Control", "no-store")
        return response
    }
}

/// The table of the article Endpoints, generated from the routers' declarations.
enum EndpointTable {
    static var markdown: String {
        (["| Method | Path | What it does |", "|---|---|---|"] + pages + endpoints + transfers)
            .joined(separator: "\n")
    }

    private static let pages = ServerService.Page.allCases.map { page in
        row("GET", "\(page.path)", page.summary)
    }

    private static let endpoints = Endpoint.routed.map { endpoint in
        row(endpoint.method.rawValue, "\(endpoint.path)", endpoint.summary)
    }

    /// The paths of the URLs that the API returns, and the WebSocket.
    private static let transfers = [
        row(
            "GET", "/websocket", "Opens a WebSocket of the Client API; also `/websockets` and `/`."),
        row(
            "POST", "/uploads",
            "Creates an upload in any supported protocol; `Parley-Content-Id` names the content."),
        row(
            "PUT", "/uploads/{token}",
            "Receives a content, whole or in chunks, and returns the offset."),
        row(
            "PATCH", "/uploads/{token}",
            "Receives the next chunk, with tus 1.0.0 or Resumable Uploads for HTTP."),
        row(
            "GET", "/uploads/{token}", "Returns the offset without interrupting a running request."),
        row("DELETE", "/uploads/{token}", "Cancels an upload."),
        row(
            "GET", "/download/{content}/{filename}",
            "Returns a content or ranges of it, until the URL expires."),
    ]

    private static func row(_ method: String, _ path: String, _ summary: String) -> String {
        "| `\(method)` | `\(path)` | \(summary) |"
    }
}

/// Redirects requests without TLS to the addresses with TLS (H173).
final class RedirectService: Service {
    private let base: String

    /// Redirects to `base`, never to a host from the request.
    init(to base: String) { self.base = base }

    func answer(to request: Request) -> Answer {
        var response = Response(.permanentRedirect)
        let query = request.target.query.map { query in "?\(query)" } ?? ""
        response.fields.add("Location", base + request.target.path + query)
        return Answer("redirect", response)
    }
}
