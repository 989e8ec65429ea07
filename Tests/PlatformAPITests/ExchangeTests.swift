import Messaging
import TestSupport
import Testing

@Suite struct `Golden exchanges` {
    /// One file in one version.
    struct VersionedFile: Sendable, CustomTestStringConvertible {
        let file: ExchangeFile
        let version: String

        var testDescription: String { "\(file.name) in \(version)" }

        // An invalid file fails the test below, not the loading of the suite.
        static let all = versioned((try? ExchangeFile.all()) ?? [])

        /// Each file in its newest version; with `PARLEY_TEST_ROUNDS=all` in each.
        static let newest = all.filter { versioned in
            TestRounds.areAll || versioned.version == versioned.file.versions.max()
        }

        /// Those of sockets and streams.
        static let live = versioned((try? ExchangeFile.live()) ?? [])

        private static func versioned(_ files: [ExchangeFile]) -> [VersionedFile] {
            files.flatMap { file in file.versions.map { VersionedFile(file: file, version: $0) } }
        }

        /// Without the exchanges on which background work of real processes has an effect: erasures, exports, scheduled
        /// messages, and webhooks, whose host names exist only in these tests. `Tests/Crash/cluster.py` and
        /// `Tests/Crash/webhooks.py` test that work with real processes. Nor those with the setting `api.dev_login`, which
        /// is refused with the public URL of these tests, and those with identity tokens, which expire by the clock of these
        /// tests.
        static let quiet = newest.filter { versioned in
            ![
                "client-dev-login", "client-sessions", "deliveries", "erasures", "exports",
                "schedule-bounds",
                "sessions", "webhooks",
            ].contains { name in versioned.file.name.hasPrefix(name) }
        }

        /// A new application for its exchanges. Those of the Client API have session tokens and identity tokens; they have a
        /// server of their own, because other tests advance the clock of the shared one.
        func sample(in server: TestServer? = nil) async throws -> SampleApplication {
            file.name.hasPrefix("client-")
                ? try await LoginFixture.exchanges(version: version, in: server)
                : try await SampleApplication.make(version: version, in: server)
        }
    }

    @Test func `all files are valid and have versions`() throws {
        let (answered, live) = (try ExchangeFile.all(), try ExchangeFile.live())
        #expect(answered.count >= 20)
        #expect(live.count >= 4)
        let files = answered + live
        #expect(files.allSatisfy { !$0.versions.isEmpty && !$0.exchanges.isEmpty })
    }

    @Test(arguments: PostgresServer.isChosen ? VersionedFile.newest : VersionedFile.all)
    func `the router answers as recorded`(versioned: VersionedFile) async throws {
        let sample = try await versioned.sample()
        try await expect(
            versioned.file, in: sample, by: RouterClient(service: sample.server.service))
    }

    @Test(arguments: VersionedFile.newest)
    func `a socket answers as recorded`(versioned: VersionedFile) async throws {
        let sample = try await versioned.sample()
        try await expect(versioned.file, in: sample, by: SocketClient(port: sample.server.port))
    }

    @Test(arguments: VersionedFile.live)
    func `sockets and streams receive as recorded`(versioned: VersionedFile) async throws {
        // No state of typing may end by itself while a file is compared.
        let server = try await TestServer.typing(step: 3_600_000)
        let sample = try await versioned.sample(in: server)
        try await expect(versioned.file, in: sample, by: LiveClient(port: server.port))
    }

    @Test(arguments: VersionedFile.newest)
    func `a new Idempotency-Key changes no response (X2)`(versioned: VersionedFile) async throws {
        let sample = try await versioned.sample()
        try await expect(
            versioned.file, in: sample,
            by: IdempotencyKeyClient(client: RouterClient(service: sample.server.service)))
    }

    @Test(
        .enabled(if: ObjectServer.isAvailable), arguments: VersionedFile.quiet,
        TestRounds.areAll ? [2, 3] : [3])
    func `any of some processes answers as recorded`(versioned: VersionedFile, count: Int)
        async throws
    {
        let cluster = try await ServerCluster.of(count)
        let sample = try await versioned.sample(in: cluster.server)
        try await expect(versioned.file, in: sample, by: cluster.client)
    }

    private func expect(
        _ file: ExchangeFile, in sample: SampleApplication, by client: any TestClient
    )
        async throws
    {
        var sample = sample
        let version = sample.variables["version"] ?? ""
        let descriptions = [
            try await DescribedAPI.of(version), try await DescribedAPI.ofClients(version),
        ]
        for exchange in file.exchanges {
            let end = try await sample.end()
            let answer = try await sample.send(exchange.request, by: client)
            for description in descriptions {
                guard let operation = description.operation(exchange.request) else { continue }
                let problem = description.problem(answer, of: operation)
                #expect(problem == nil, "\(exchange.title)")
            }
            let found = try expect(answer, fits: exchange, in: sample)
            sample.variables.merge(found) { old, _ in old }
            if let live = client as? LiveClient {
                try await expect(exchange, receivedBy: live, in: &sample)
            }
            let caused = try await sample.events(after: end).map(\.type.rawValue)
            #expect(caused == exchange.events, "\(exchange.title)")
        }
    }

    /// Compares what sockets and streams receive, and adds the values of its variables.
    private func expect(
        _ exchange: Exchange, receivedBy live: LiveClient, in sample: inout SampleApplication
    ) async throws {
        for (name, text) in exchange.received {
            let received = try await live.next(name)
            let found = try Pattern(text, sample.variables).match(received)
            #expect(
                found != nil,
                "\(exchange.title)\n\(name) wanted \(text)\n\(name) got    \(received)")
            sample.variables.merge(found ?? [:]) { old, _ in old }
        }
    }

    /// Compares a response, and returns the values of its variables.
    private func expect(
        _ answer: PlainAnswer, fits exchange: Exchange, in sample: SampleApplication
    ) throws -> [String: String] {
        let comment = Comment(rawValue: "\(exchange.title)\n\(answer.body)")
        #expect(answer.status == exchange.status, comment)
        var variables = sample.variables
        for field in exchange.fields {
            let pattern = try Pattern(field.value, variables)
            let found = answer[field.name].flatMap(pattern.match)
            #expect(found != nil, "\(exchange.title): \(field.name): \(answer[field.name] ?? "-")")
            variables.merge(found ?? [:]) { old, _ in old }
        }
        for name in exchange.absentFields { #expect(answer[name] == nil, comment) }
        guard exchange.body != "*" else { return variables }
        // The expected text has no white space between tokens and no line ends.
        let body = answer.body.replacing("\n", with: "")
        let found = try Pattern(exchange.body, variables).match(body)
        #expect(found != nil, "\(exchange.title)\nwanted \(exchange.body)\ngot    \(answer.body)")
        variables.merge(found ?? [:]) { old, _ in old }
        return variables
    }
}
