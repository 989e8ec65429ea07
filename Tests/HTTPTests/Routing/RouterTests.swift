import HTTP
import Testing

@Suite struct `Routing` {
    private let router: Router<String> = {
        var router = Router<String>(allowsTrailingSlash: true)
        router.add(.get, "/", "root")
        router.add(.get, "/apps/{app}", "app")
        router.add(.get, "/apps/mine", "mine")
        router.add(.post, "/apps/mine", "change mine")
        router.add(.delete, "/apps/{application}", "delete app")
        router.add(.get, "/apps/mine/parts", "parts of mine")
        router.add(.get, "/apps/{app}/parts/{part}", "part")
        router.add(.get, "/caf\u{E9}", "composed")
        router.add(.head, "/apps/{app}/parts/{part}", "head of part")
        return router
    }()

    @Test(
        arguments: [
            (.get, "/", "root"), (.get, "/apps/a", "app"), (.get, "/apps/mine", "mine"),
            (.get, "/apps/mine/parts", "parts of mine"), (.get, "/apps/mine/parts/1", "part"),
            (.get, "/apps/x/parts/y", "part"), (.get, "/apps/a/", "app"),
            (.get, "/apps/a%2Fb", "app"),
            (.head, "/apps/a", "app"), (.head, "/apps/x/parts/y", "head of part"),
            (.get, "/caf%C3%A9", "composed"), (.get, "/apps/.hidden", "app"),
            (.get, "/apps/a?b=c", "app"),
            (.get, "/%61pps/a", "app"),
        ] as [(Method, String, String)])
    func `literals precede parameters, and GET answers HEAD unless HEAD is added (H63, H65)`(
        method: Method, target: String, handler: String
    ) {
        #expect(router.handler(method, target) == handler)
    }

    @Test(arguments: [
        "/unknown", "/apps", "/apps/a/b", "/apps//", "//apps/a", "/apps//parts/1", "/APPS/a",
        "/Apps/mine",
        "/cafe%CC%81", "/apps/a//", "/apps/mine/parts/1/2",
    ])
    func `case, empty segments and canonical equivalents do not match (H62, H63, H65)`(
        target: String
    ) {
        #expect(router.handler(.get, target) == "404")
    }

    @Test func `a method that is not allowed gives the allowed ones (H65)`() {
        #expect(router.handler(.put, "/apps/mine") == "405 GET, HEAD, POST, OPTIONS")
        #expect(router.handler(.post, "/apps/other") == "405 GET, HEAD, DELETE, OPTIONS")
        #expect(router.handler(.options, "/") == "405 GET, HEAD, OPTIONS")
    }

    @Test func `a path that cannot be decoded is a separate fault (H58, H61, H62)`() {
        #expect(router.handler(.get, "/apps/%zz") == "malformed")
        #expect(router.handler(.get, "/apps/../apps") == "malformed")
        #expect(router.handler(.get, String(repeating: "/a", count: 65)) == "tooLong")
    }

    @Test func `parameters are decoded once and named by the matched template (H60)`() {
        #expect(
            router.parameters(.get, "/apps/a%252F/parts/b%20c") == ["app": "a%2F", "part": "b c"])
        #expect(router.parameters(.get, "/apps/mine/parts/1") == ["app": "mine", "part": "1"])
    }

    @Test func `a trailing slash is ignored where the table allows it`() {
        var strict = Router<String>()
        strict.add(.get, "/a", "a")
        #expect(strict.handler(.get, "/a") == "a")
        #expect(strict.handler(.get, "/a/") == "404")
    }

    @Test func `a second handler replaces the first`() {
        var table = Router<String>()
        table.add(.get, "/a", "old")
        table.add(.get, "/a", "new")
        #expect(table.handler(.get, "/a") == "new")
    }
}

extension Router<String> {
    fileprivate func handler(_ method: Method, _ target: String) -> String {
        switch match(method, RequestTarget(target)) {
        case .found(let handler, _, _): handler
        case .otherMethods(_, let allowed): "405 " + allowed.map(\.rawValue).joined(separator: ", ")
        case .unknown: "404"
        case .fault(let fault): "\(fault)"
        }
    }

    fileprivate func parameters(_ method: Method, _ target: String) -> PathParameters? {
        if case .found(_, _, let parameters) = match(method, RequestTarget(target)) {
            parameters
        } else {
            nil
        }
    }
}
