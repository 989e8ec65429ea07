import HTTP
import Testing

@testable import PlatformAPI

@Suite struct `The body of a request` {
    /// A body that must not be touched, or breaks in some way when it is.
    actor BadBody: RequestBody {
        nonisolated let length: Int64? = 100
        private let error: BodyError?
        private(set) var reads = 0

        init(_ error: BodyError? = nil) { self.error = error }

        func read(into buffer: inout BodyBuffer) async throws(BodyError) {
            reads += 1
            buffer.removeAll()
            if let error { throw error }
        }

        nonisolated func interrupt() {}
    }

    @Test(arguments: [
        ("POST", "/apps/{app}/conversations", "unknown", Int64(100), 401),
        ("POST", "/apps/{app}/conversations", "{other_token}", 100, 403),
        ("POST", "/apps/{app}/conversations", "{read_token}", 100, 403),
        ("POST", "/apps/{app}/conversations", "{token}", 1_048_577, 413),
        ("POST", "/apps/{app}/conversations/x/content", "{token}", 100, 422),
        ("DELETE", "/apps/{app}/conversations/x", "{token}", 100, 404),
        ("GET", "/apps/{app}/conversations/x", "{token}", 100, 404),
    ])
    func `it is never read when the head decides (H73)`(
        method: String, path: String, token: String, length: Int64, status: Int
    ) async throws {
        let body = BadBody()
        let response = try await ask(method, path, token, .length(length), body)
        #expect(response.status.code == status)
        #expect(await body.reads == 0)
    }

    @Test func `too slow a body is a timeout and ends the connection (H175)`() async throws {
        let response = try await create(BadBody(.stalled))
        #expect(response.status == .requestTimeout)
        guard case .close = response.ending else {
            Issue.record("the connection is kept")
            return
        }
    }

    @Test func `what the layer below refuses keeps its status and ends the connection`()
        async throws
    {
        let refusal = Refusal(.contentTooLarge, "H44", "Too large.")
        let response = try await create(BadBody(.refused(refusal)))
        #expect(response.status == .contentTooLarge)
        guard case .close = response.ending else {
            Issue.record("the connection is kept")
            return
        }
    }

    @Test func `a client that has disconnected gets no answer (H51)`() async throws {
        let response = try await create(BadBody(.interrupted))
        guard case .drop = response.ending else {
            Issue.record("an answer without a client")
            return
        }
    }

    private func create(_ body: BadBody) async throws -> Response {
        try await ask("POST", "/apps/{app}/conversations", "{token}", .chunked, body)
    }

    private func ask(
        _ method: String, _ path: String, _ token: String, _ framing: BodyFraming, _ body: BadBody
    ) async throws -> Response {
        let scene = try await SampleApplication.make()
        let request = Request(
            method: try #require(Method(rawValue: method)),
            target: RequestTarget(try path.filled(with: scene.variables)),
            fields: Fields([
                ("Authorization", "Bearer \(try token.filled(with: scene.variables))"),
                ("Accept", "application/vnd.layer+json; version=1.1"),
            ]),
            framing: framing)
        switch scene.world.service.answer(to: request).outcome {
        case .response(let response): return response
        case .work(_, let work): return await work(body)
        case .upgrade(let upgrade): return Response(upgrade)
        }
    }
}

@Suite struct `Coded bodies` {
    private let conversations = "/apps/{app}/conversations"
    private let draft = #"{"participants":["ana","bo"],"metadata":{"title":"coded"}}"#

    private func coded(_ text: some Collection<UInt8>, _ coding: ContentCoding) -> [UInt8] {
        Deflater(coding).compress(Array(text).span, .finish)
    }

    private func clients(_ scene: SampleApplication) -> [any TestClient] {
        [RouterClient(service: scene.world.service), SocketClient(port: scene.world.port)]
    }

    @Test(arguments: [("gzip", ContentCoding.gzip), ("x-gzip", .gzip), ("deflate", .deflate)])
    func `are read as if they were not coded (H117, H118)`(
        name: String, coding: ContentCoding
    ) async throws {
        let scene = try await SampleApplication.make()
        for client in clients(scene) {
            let answer = try await scene.ask(
                "POST", conversations, fields: [("Content-Encoding", name)],
                bytes: coded(draft.utf8, coding), by: client)
            #expect(answer.status == 201)
            #expect(answer.body.contains(#""title":"coded""#))
        }
    }

    @Test func `count decoded, and stop at the limit (H118)`() async throws {
        let scene = try await SampleApplication.make()
        var noise = SystemRandomNumberGenerator()
        let large = (0..<1_100_000).map { _ in UInt8.random(in: 0x30...0x39, using: &noise) }
        let bomb = coded([UInt8](repeating: 0x20, count: 1 << 20), .gzip)
        for bytes in [coded(large, .gzip), bomb] {
            for client in clients(scene) {
                let answer = try await scene.ask(
                    "POST", conversations, fields: [("Content-Encoding", "gzip")], bytes: bytes,
                    by: client)
                #expect(answer.status == 413)
                #expect(answer.body.contains(#""code":10,"#))
            }
        }
    }

    @Test func `that break off or go on are no request, and nothing is stored (H119)`()
        async throws
    {
        let scene = try await SampleApplication.make()
        let whole = coded(draft.utf8, .gzip)
        let before = try await scene.eventCount()
        for bytes in [Array(whole.dropLast()), whole + [0], Array(draft.utf8)] {
            for client in clients(scene) {
                let answer = try await scene.ask(
                    "POST", conversations, fields: [("Content-Encoding", "gzip")], bytes: bytes,
                    by: client)
                #expect(answer.status == 400)
            }
        }
        #expect(try await scene.eventCount() == before)
    }

    @Test func `of unknown length need no length (H54)`() async throws {
        let scene = try await SampleApplication.make()
        let request = Request(
            method: .post,
            target: RequestTarget(try conversations.filled(with: scene.variables)),
            fields: Fields([
                ("Authorization", try "Bearer {token}".filled(with: scene.variables)),
                ("Accept", "application/vnd.layer+json; version=1.1"),
            ]), framing: .chunked)
        guard case .work(_, let work) = scene.world.service.answer(to: request).outcome else {
            Issue.record("answered from the head alone")
            return
        }
        #expect(await work(MemoryBody(Array(draft.utf8))).status == .created)
    }

    @Test func `are asked for by the endpoints that show no secret (H115)`() {
        let compressed = Endpoint.all.filter(\.isCompressed)
        #expect(compressed.allSatisfy { $0.method == .get })
        #expect(!compressed.contains { $0.path.description.contains("content") })
    }
}
