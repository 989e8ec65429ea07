import HTTP
import JSON
import Messaging
import MessagingWire
import Testing

@testable import PlatformAPI

@Suite struct `The table of endpoints` {
    @Test func `no method stands twice on a path`() {
        let lines = Endpoint.all.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(lines).count == lines.count)
    }

    @Test func `every line says what it does in one sentence`() {
        #expect(Endpoint.all.allSatisfy { $0.summary.hasSuffix(".") && $0.summary.count < 70 })
    }

    @Test func `all paths lie under the application`() {
        #expect(Endpoint.all.allSatisfy { $0.path.description.hasPrefix("/apps/{app}") })
    }

    @Test(arguments: APIVersion.allCases)
    func `every line is described, and a line with a body has an example (X11)`(
        version: APIVersion
    ) async throws {
        let description = try await DescribedAPI.of(version.rawValue)
        for endpoint in Endpoint.all where endpoint.versions.contains(version) {
            let line = "\(endpoint.method.rawValue) \(endpoint.path)"
            let operation = description.operations.first { "\($0.method) \($0.path)" == line }
            #expect(operation != nil, "\(line) has no Operation behind it")
            let content = operation?.json["requestBody"]?["content"]
            #expect(content?.members.allSatisfy { $0.value["example"] != nil } ?? true, "\(line)")
        }
    }

    @Test func `only creations take a key (1_9)`() {
        let keyed = Endpoint.all.filter(\.isKeyed)
        #expect(
            Set(keyed.map(\.path.description)) == [
                "/apps/{app}/conversations", "/apps/{app}/conversations/{conversation}/messages",
                "/apps/{app}/announcements", "/apps/{app}/notifications",
                "/apps/{app}/users/{user}/conversations",
                "/apps/{app}/users/{user}/conversations/{conversation}/messages",
            ])
        #expect(keyed.allSatisfy { $0.method == .post })
    }

    @Test(
        arguments: Endpoint.all.flatMap { endpoint in
            endpoint.versions.sorted().map { version in
                ("\(endpoint.method.rawValue) \(endpoint.path)", version)
            }
        })
    func `each line has a golden exchange that succeeds in each version it has`(
        line: String, version: APIVersion
    ) throws {
        var router = Router<String>(allowsTrailingSlash: true)
        for endpoint in Endpoint.all {
            router.add(
                endpoint.method, endpoint.path, "\(endpoint.method.rawValue) \(endpoint.path)")
        }
        guard
            let endpoint = Endpoint.all.first(where: { "\($0.method.rawValue) \($0.path)" == line }
            ),
            endpoint.versions.contains(version)
        else { return }
        let played = try ExchangeFile.all().filter { $0.versions.contains(version.rawValue) }
            .flatMap(\.exchanges).filter { (200..<300).contains($0.status) }
            .contains { exchange in
                guard let method = Method(rawValue: exchange.request.method),
                    case .found(line, _, _) = router.match(
                        method, RequestTarget(exchange.request.target))
                else { return false }
                return true
            }
        #expect(played)
    }
}

/// Links without a configured public URL (ruling 36).
@Suite struct `Links behind a proxy` {
    @Test func `take scheme and host from the trusted proxy, each answer from its own request`()
        async throws
    {
        try await expectLinks(in: TestServer.behindProxy())
    }

    @Test func `are the same from a database that processes share`() async throws {
        try await expectLinks(in: TestServer.behindProxy(at: TestEnvironment.server(of:)))
    }

    private func expectLinks(in world: TestServer) async throws {
        let scene = try await SampleApplication.make(version: "3.0", in: world)
        let own = "https://chat.example.com"
        func ask(
            _ method: String, _ path: String, _ body: String = "",
            by fields: [(name: String, value: String)] = []
        ) async throws -> PlainAnswer {
            try await scene.ask(
                method, path, body, fields: fields, by: SocketClient(port: world.port))
        }
        func proxy(_ host: String, _ scheme: String) -> [(name: String, value: String)] {
            [
                ("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Host", host),
                ("X-Forwarded-Proto", scheme),
            ]
        }
        let one = (proxy("one.example", "https"), "https://one.example")
        let two = (proxy("two.example:8080", "http"), "http://two.example:8080")
        let made = try await ask(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"]}"#, by: one.0)
        #expect(made.body.contains(#""url":"\#(one.1)/apps/"#), "\(made)")
        let conversation = try #require(made["Location"])
        let sent = try await ask(
            "POST", "\(conversation)/messages",
            #"{"sender_id":"layer:///identities/ana","parts":[{"mime_type":"a/b","body":"x"}]}"#,
            by: two.0)
        #expect(sent.body.contains(#""url":"\#(two.1)/apps/"#), "\(sent)")
        let message = try #require(sent["Location"])
        // Twice, so that what is remembered of the first answer might be the second one.
        for (fields, base) in [one, two, one, two, ([], own), one] {
            let read = try await ask("GET", message, by: fields)
            #expect(read.body.contains(#""url":"\#(base)/apps/"#), "\(read)")
            let others = [one.1, two.1, own].filter { $0 != base }
            #expect(!others.contains { read.body.contains("\($0)/") }, "\(read)")
            let missing = try await ask("GET", "\(conversation)/messages/x", by: fields)
            #expect(missing.body.contains(#""url":"\#(base)/docs/errors#"#), "\(missing)")
            for path in ["/uploads/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "/download/x/y"] {
                let refused = try await ask("GET", path, by: fields)
                #expect(refused.body.contains(#""url":"\#(base)/docs/errors#"#), "\(refused)")
            }
            let content = try await ask(
                "POST", "\(conversation)/content",
                by: fields + [("Upload-Content-Type", "a/b"), ("Upload-Content-Length", "1")])
            #expect(content.body.contains(#""upload_url":"\#(base)/uploads/"#), "\(content)")
            let tus = try await ask(
                "POST", "/uploads",
                by: fields + [("Tus-Resumable", "1.0.0"), ("Upload-Length", "1")])
            #expect(tus["Location"]?.hasPrefix("\(base)/uploads/") == true, "\(tus)")
        }
        // What a client makes up, and what no proxy of ours says, changes nothing.
        for fields in [
            [("X-Forwarded-Host", "one.example")],
            [("Forwarded", "for=192.0.2.1;host=one.example")],
            proxy("evil.example/x", "https"), proxy("<script>", "https"),
        ] as [[(name: String, value: String)]] {
            let read = try await ask("GET", message, by: fields)
            #expect(read.body.contains(#""url":"\#(own)/apps/"#), "\(read)")
        }
        // Events are shown to readers of all hosts alike.
        let events = try await ask("GET", "/apps/{app}/events?after=0", by: one.0)
        #expect(events.body.contains("\(own)/apps/") && !events.body.contains(one.1), "\(events)")
        let description = try await ask("GET", "/openapi.json", by: one.0)
        #expect(description.body.contains(#""servers":[{"url":"/"}]"#))
    }
}

@Suite struct `The target of a webhook` {
    @Test(arguments: [
        "https://localhost/", "https://localhost./", "https://LOCALHOST.:8443/in",
        "https://foo.localhost/", "https://a.foo.LocalHost./in",
    ]) func `is this machine by its names only where an operator allows it (X6)`(
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
    ]) func `may be whatever else has a name (X6)`(text: String) throws {
        #expect(try #require(TargetURL(text)).isAdmitted(by: OutboundRule()))
    }
}
