import HTTP
import Testing

@testable import PlatformAPI

@Suite struct `The body of a request` {
    /// A body that must not be read, or whose read fails.
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
    func `it is not read when the head is rejected (H73)`(
        method: String, path: String, token: String, length: Int64, status: Int
    ) async throws {
        let body = BadBody()
        let response = try await send(method, path, token, .length(length), body)
        #expect(response.status.code == status)
        #expect(await body.reads == 0)
    }

    @Test func `a stalled body is a timeout and ends the connection (H175)`() async throws {
        let response = try await create(BadBody(.stalled))
        #expect(response.status == .requestTimeout)
        guard case .close = response.ending else {
            Issue.record("The connection stays open.")
            return
        }
    }

    @Test func `a refusal of the HTTP layer keeps its status and ends the connection`()
        async throws
    {
        let refusal = Refusal(.contentTooLarge, "H44", "Too large.")
        let response = try await create(BadBody(.refused(refusal)))
        #expect(response.status == .contentTooLarge)
        guard case .close = response.ending else {
            Issue.record("The connection stays open.")
            return
        }
    }

    @Test func `a client that has disconnected gets no answer (H51)`() async throws {
        let response = try await create(BadBody(.interrupted))
        guard case .drop = response.ending else {
            Issue.record("There is a response without a client.")
            return
        }
    }

    private func create(_ body: BadBody) async throws -> Response {
        try await send("POST", "/apps/{app}/conversations", "{token}", .chunked, body)
    }

    private func send(
        _ method: String, _ path: String, _ token: String, _ framing: BodyFraming, _ body: BadBody
    ) async throws -> Response {
        let sample = try await SampleApplication.make()
        let request = Request(
            method: try #require(Method(rawValue: method)),
            target: RequestTarget(try path.filled(with: sample.variables)),
            fields: Fields([
                ("Authorization", "Bearer \(try token.filled(with: sample.variables))"),
                ("Accept", "application/vnd.layer+json; version=1.1"),
            ]),
            framing: framing)
        switch sample.server.service.answer(to: request).outcome {
        case .response(let response): return response
        case .work(_, let work): return await work(body)
        case .upgrade(let upgrade): return Response(upgrade)
        }
    }
}

@Suite struct `Bodies with a content coding` {
    private let conversations = "/apps/{app}/conversations"
    private let draft = #"{"participants":["ana","bo"],"metadata":{"title":"coded"}}"#

    private func coded(_ text: some Collection<UInt8>, _ coding: ContentCoding) -> [UInt8] {
        Deflater(coding).compress(Array(text).span, .finish)
    }

    private func clients(_ sample: SampleApplication) -> [any TestClient] {
        [RouterClient(service: sample.server.service), SocketClient(port: sample.server.port)]
    }

    @Test(arguments: [("gzip", ContentCoding.gzip), ("x-gzip", .gzip), ("deflate", .deflate)])
    func `are decoded (H117, H118)`(
        name: String, coding: ContentCoding
    ) async throws {
        let sample = try await SampleApplication.make()
        for client in clients(sample) {
            let answer = try await sample.send(
                "POST", conversations, fields: [("Content-Encoding", name)],
                bytes: coded(draft.utf8, coding), by: client)
            #expect(answer.status == 201)
            #expect(answer.body.contains(#""title":"coded""#))
        }
    }

    @Test func `are limited by their decoded size (H118)`() async throws {
        let sample = try await SampleApplication.make()
        var noise = SystemRandomNumberGenerator()
        let large = (0..<1_100_000).map { _ in UInt8.random(in: 0x30...0x39, using: &noise) }
        let bomb = coded([UInt8](repeating: 0x20, count: 1 << 20), .gzip)
        for bytes in [coded(large, .gzip), bomb] {
            for client in clients(sample) {
                let answer = try await sample.send(
                    "POST", conversations, fields: [("Content-Encoding", "gzip")], bytes: bytes,
                    by: client)
                #expect(answer.status == 413)
                #expect(answer.body.contains(#""code":10,"#))
            }
        }
    }

    @Test func `that are truncated or too long are rejected, and nothing is stored (H119)`()
        async throws
    {
        let sample = try await SampleApplication.make()
        let whole = coded(draft.utf8, .gzip)
        let before = try await sample.eventCount()
        for bytes in [Array(whole.dropLast()), whole + [0], Array(draft.utf8)] {
            for client in clients(sample) {
                let answer = try await sample.send(
                    "POST", conversations, fields: [("Content-Encoding", "gzip")], bytes: bytes,
                    by: client)
                #expect(answer.status == 400)
            }
        }
        #expect(try await sample.eventCount() == before)
    }

    @Test func `can have no length (H54)`() async throws {
        let sample = try await SampleApplication.make()
        let request = Request(
            method: .post,
            target: RequestTarget(try conversations.filled(with: sample.variables)),
            fields: Fields([
                ("Authorization", try "Bearer {token}".filled(with: sample.variables)),
                ("Accept", "application/vnd.layer+json; version=1.1"),
            ]), framing: .chunked)
        guard case .work(_, let work) = sample.server.service.answer(to: request).outcome else {
            Issue.record("The request was answered without its body.")
            return
        }
        #expect(await work(MemoryBody(Array(draft.utf8))).status == .created)
    }

    @Test func `are used for responses of endpoints that return no secret (H115)`() {
        let compressed = Endpoint.routed.filter(\.isCompressed)
        #expect(compressed.allSatisfy { $0.method == .get })
        #expect(!compressed.contains { $0.path.description.contains("content") })
    }
}
