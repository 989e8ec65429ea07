import Messaging
import TestSupport
import Testing

@Suite struct `Golden exchanges` {
    /// One file in one version.
    struct Play: Sendable, CustomTestStringConvertible {
        let file: ExchangeFile
        let version: String

        var testDescription: String { "\(file.name) in \(version)" }

        static let all: [Play] = {
            // A file that cannot be read fails the test below, not the loading of the suite.
            let files = (try? ExchangeFile.all()) ?? []
            return files.flatMap { file in file.versions.map { Play(file: file, version: $0) } }
        }()

        /// Without the exchanges on which background work of real processes has an effect: exports, scheduled
        /// messages, and webhooks, whose host names exist only in these tests. `Tests/Crash/cluster.py` and
        /// `Tests/Crash/webhooks.py` test that work with real processes.
        static let quiet = all.filter { play in
            !["deliveries", "exports", "schedule-bounds", "webhooks"]
                .contains { name in play.file.name.hasPrefix(name) }
        }
    }

    @Test func `all files can be read and name their versions`() throws {
        let files = try ExchangeFile.all()
        #expect(files.count >= 20)
        #expect(files.allSatisfy { !$0.versions.isEmpty && !$0.exchanges.isEmpty })
    }

    @Test(arguments: Play.all)
    func `the router answers as written`(play: Play) async throws {
        let scene = try await SampleApplication.make(version: play.version)
        try await expect(play.file, in: scene, by: RouterClient(service: scene.world.service))
    }

    @Test(arguments: Play.all)
    func `a socket answers as written`(play: Play) async throws {
        let scene = try await SampleApplication.make(version: play.version)
        try await expect(play.file, in: scene, by: SocketClient(port: scene.world.port))
    }

    @Test(arguments: Play.all)
    func `an Idempotency-Key of its own changes no answer (X2)`(play: Play) async throws {
        let scene = try await SampleApplication.make(version: play.version)
        try await expect(
            play.file, in: scene,
            by: IdempotencyKeyClient(client: RouterClient(service: scene.world.service)))
    }

    @Test(.enabled(if: ObjectServer.isAvailable), arguments: Play.quiet, [2, 3])
    func `any of some processes answers as written`(play: Play, count: Int) async throws {
        let cluster = try await ServerCluster.of(count)
        let scene = try await SampleApplication.make(version: play.version, in: cluster.world)
        try await expect(play.file, in: scene, by: cluster.client)
    }

    private func expect(
        _ file: ExchangeFile, in scene: SampleApplication, by client: any TestClient
    )
        async throws
    {
        var scene = scene
        let description = try await DescribedAPI.of(scene.variables["version"] ?? "")
        for exchange in file.exchanges {
            let end = try await scene.end()
            let answer = try await scene.ask(exchange.request, by: client)
            let caused = try await scene.events(after: end).map(\.type.rawValue)
            #expect(caused == exchange.events, "\(exchange.title)")
            if let operation = description.operation(exchange.request) {
                let problem = description.problem(answer, of: operation)
                #expect(problem == nil, "\(exchange.title)")
            }
            let found = try expect(answer, fits: exchange, in: scene)
            scene.variables.merge(found) { old, _ in old }
        }
    }

    /// What the answer's holes held.
    private func expect(
        _ answer: PlainAnswer, fits exchange: Exchange, in scene: SampleApplication
    ) throws -> [String: String] {
        let place = Comment(rawValue: "\(exchange.title)\n\(answer.body)")
        #expect(answer.status == exchange.status, place)
        var variables = scene.variables
        for field in exchange.fields {
            let pattern = try Pattern(field.value, variables)
            let found = answer[field.name].flatMap(pattern.match)
            #expect(found != nil, "\(exchange.title): \(field.name): \(answer[field.name] ?? "-")")
            variables.merge(found ?? [:]) { old, _ in old }
        }
        for name in exchange.absentFields { #expect(answer[name] == nil, place) }
        guard exchange.body != "*" else { return variables }
        // Of what is wanted, white space between tokens is gone, and so are the ends of lines.
        let body = answer.body.replacing("\n", with: "")
        let found = try Pattern(exchange.body, variables).match(body)
        #expect(found != nil, "\(exchange.title)\nwanted \(exchange.body)\ngot    \(answer.body)")
        variables.merge(found ?? [:]) { old, _ in old }
        return variables
    }
}
