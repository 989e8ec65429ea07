import HTTP
import JSON
import Messaging
import MessagingWire
import Testing

@testable import PlatformAPI

@Suite struct `The table of endpoints` {
    @Test func `has each method of a path once`() {
        let routes = Endpoint.routed.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(routes).count == routes.count)
    }

    @Test func `has a summary of one sentence for each endpoint`() {
        #expect(Endpoint.routed.allSatisfy { $0.summary.hasSuffix(".") && $0.summary.count < 80 })
    }

    @Test func `has only paths of an application, and on the Client API none`() {
        #expect(Endpoint.all.allSatisfy { $0.path.description.hasPrefix("/apps/{app}") })
        #expect(Endpoint.client.allSatisfy { !$0.path.description.hasPrefix("/apps") })
        #expect(Endpoint.all.allSatisfy { endpoint in endpoint.family != .client })
        #expect(Endpoint.client.allSatisfy { endpoint in endpoint.family == .client })
    }

    @Test(arguments: DescribedRoute.all)
    func `has a description of each endpoint, and an example of each body (X11)`(
        route: DescribedRoute
    ) async throws {
        let content = try await route.operation.json["requestBody"]?["content"]
        #expect(content?.members.allSatisfy { $0.value["example"] != nil } ?? true)
    }

    @Test func `accepts a key in If-None-Match for creations only (1_9)`() {
        let keyed = Endpoint.all.filter(\.isKeyed)
        #expect(
            Set(keyed.map(\.path.description)) == [
                "/apps/{app}/conversations", "/apps/{app}/conversations/{conversation}/messages",
                "/apps/{app}/announcements", "/apps/{app}/notifications",
                "/apps/{app}/users/{user}/conversations",
                "/apps/{app}/users/{user}/conversations/{conversation}/messages",
            ])
        let ofClients = Endpoint.client.filter(\.isKeyed)
        #expect(
            Set(ofClients.map(\.path.description)) == [
                "/conversations", "/conversations/{conversation}/messages",
            ])
        #expect((keyed + ofClients).allSatisfy { $0.method == .post })
    }

    @Test(arguments: DescribedRoute.all)
    func `has a successful golden exchange of each endpoint in each version`(
        route: DescribedRoute
    ) throws {
        #expect(try Self.hasExchange(of: route) { status in (200..<300).contains(status) })
    }

    @Test(arguments: DescribedRoute.clients)
    func `has a golden exchange of a client that is refused`(route: DescribedRoute) throws {
        #expect(try Self.hasExchange(of: route) { status in (400..<500).contains(status) })
        guard route.needsCredential else { return }
        #expect(try Self.hasExchange(of: route) { status in status == 401 })
    }

    private static let router = {
        var router = Router<String>(allowsTrailingSlash: true)
        for endpoint in Endpoint.routed {
            router.add(
                endpoint.method, endpoint.path, "\(endpoint.method.rawValue) \(endpoint.path)")
        }
        return router
    }()

    /// Whether an exchange of the route in its version ends with a status.
    private static func hasExchange(
        of route: DescribedRoute, with isWanted: (Int) -> Bool
    ) throws -> Bool {
        try ExchangeFile.all().filter { $0.versions.contains(route.version.rawValue) }
            .flatMap(\.exchanges).filter { exchange in isWanted(exchange.status) }
            .contains { exchange in
                guard let method = Method(rawValue: exchange.request.method),
                    case .found(route.name, _, _) = router.match(
                        method, RequestTarget(exchange.request.target))
                else { return false }
                return true
            }
    }
}

/// Links without a configured public URL (ruling 36).
@Suite struct `Links behind a proxy` {
    @Test func `have the scheme and host that a trusted proxy sends, in each response`()
        async throws
    {
        try await expectLinks(in: TestServer.behindProxy())
    }

    @Test func `have them also with a shared database`() async throws {
        try await expectLinks(in: TestServer.behindProxy(at: TestEnvironment.server(of:)))
    }

    private func expectLinks(in server: TestServer) async throws {
        let sample = try await SampleApplication.make(version: "3.0", in: server)
        let own = "https://chat.example.com"
        func send(
            _ method: String, _ path: String, _ body: String = "",
            by fields: [(name: String, value: String)] = []
        ) async throws -> PlainAnswer {
            try await sample.send(
                method, path, body, fields: fields, by: SocketClient(port: server.port))
        }
        func proxy(_ host: String, _ scheme: String) -> [(name: String, value: String)] {
            [
                ("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Host", host),
                ("X-Forwarded-Proto", scheme),
            ]
        }
        let one = (proxy("one.example", "https"), "https://one.example")
        let two = (proxy("two.example:8080", "http"), "http://two.example:8080")
        let made = try await send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"]}"#, by: one.0)
        #expect(made.body.contains(#""url":"\#(one.1)/apps/"#), "\(made)")
        let conversation = try #require(made["Location"])
        let sent = try await send(
            "POST", "\(conversation)/messages",
            #"{"sender_id":"layer:///identities/ana","parts":[{"mime_type":"a/b","body":"x"}]}"#,
            by: two.0)
        #expect(sent.body.contains(#""url":"\#(two.1)/apps/"#), "\(sent)")
        let message = try #require(sent["Location"])
        // Twice, because the second response may come from the cache.
        for (fields, base) in [one, two, one, two, ([], own), one] {
            let read = try await send("GET", message, by: fields)
            #expect(read.body.contains(#""url":"\#(base)/apps/"#), "\(read)")
            let others = [one.1, two.1, own].filter { $0 != base }
            #expect(!others.contains { read.body.contains("\($0)/") }, "\(read)")
            let missing = try await send("GET", "\(conversation)/messages/x", by: fields)
            #expect(missing.body.contains(#""url":"\#(base)/docs/errors#"#), "\(missing)")
            for path in ["/uploads/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "/download/x/y"] {
                let refused = try await send("GET", path, by: fields)
                #expect(refused.body.contains(#""url":"\#(base)/docs/errors#"#), "\(refused)")
            }
            let content = try await send(
                "POST", "\(conversation)/content",
                by: fields + [("Upload-Content-Type", "a/b"), ("Upload-Content-Length", "1")])
            #expect(content.body.contains(#""upload_url":"\#(base)/uploads/"#), "\(content)")
            let tus = try await send(
                "POST", "/uploads",
                by: fields + [("Tus-Resumable", "1.0.0"), ("Upload-Length", "1")])
            #expect(tus["Location"]?.hasPrefix("\(base)/uploads/") == true, "\(tus)")
        }
        // Invalid values, and headers that the proxy does not set, change nothing.
        for fields in [
            [("Forwarded", "for=192.0.2.1;host=one.example")],
            proxy("evil.example/x", "https"), proxy("<script>", "https"),
        ] as [[(name: String, value: String)]] {
            let read = try await send("GET", message, by: fields)
            #expect(read.body.contains(#""url":"\#(own)/apps/"#), "\(read)")
        }
        // A proxy may send the host without an address.
        let read = try await send("GET", message, by: [("X-Forwarded-Host", "one.example")])
        #expect(read.body.contains(#""url":"http://one.example/apps/"#), "\(read)")
        // Events have the same links for all hosts.
        let events = try await send("GET", "/apps/{app}/events?after=0", by: one.0)
        #expect(events.body.contains("\(own)/apps/") && !events.body.contains(one.1), "\(events)")
        let description = try await send("GET", "/openapi.json", by: one.0)
        #expect(description.body.contains(#""servers":[{"url":"/"}]"#))
    }
}

@Suite struct `The target of a webhook` {
    @Test(arguments: [
        "https://localhost/", "https://localhost./", "https://LOCALHOST.:8443/in",
        "https://foo.localhost/", "https://a.foo.LocalHost./in",
    ]) func `can be a local host name only if the operator allows it (X6)`(
        text: String
    ) throws {
        let target = try #require(TargetURL(text))
        var rule = OutboundRule()
        #expect(!target.isAdmitted(by: rule))
        for own in ["127.0.0.0/8", "::1/128"] {
            rule.allowedNetworks = [try #require(AddressBlock(own))]
            #expect(target.isAdmitted(by: rule))
        }
        rule.allowedNetworks = [try #require(AddressBlock("10.0.0.0/8"))]
        #expect(!target.isAdmitted(by: rule))
    }

    @Test(arguments: [
        "https://localhost.example.org/", "https://notlocalhost/", "https://example.org./localhost",
    ]) func `can be any other host name (X6)`(text: String) throws {
        #expect(try #require(TargetURL(text)).isAdmitted(by: OutboundRule()))
    }
}
