import HTTP
import PlatformAPI
import Testing

@Suite struct `Coded bodies` {
    private let conversations = "/apps/{app}/conversations"
    private let draft = #"{"participants":["ana","bo"],"metadata":{"title":"coded"}}"#

    private func coded(_ text: some Collection<UInt8>, _ coding: ContentCoding) -> [UInt8] {
        Deflater(coding).compress(Array(text).span, .finish)
    }

    private func doors(_ scene: Scene) -> [any Door] {
        [RouterDoor(service: scene.world.service), SocketDoor(port: scene.world.port)]
    }

    @Test(arguments: [("gzip", ContentCoding.gzip), ("x-gzip", .gzip), ("deflate", .deflate)])
    func `are read as if they were not coded (H117, H118)`(
        name: String, coding: ContentCoding
    ) async throws {
        let scene = try await Scene.make()
        for door in doors(scene) {
            let answer = try await scene.ask(
                "POST", conversations, fields: [("Content-Encoding", name)],
                octets: coded(draft.utf8, coding), by: door)
            #expect(answer.status == 201)
            #expect(answer.body.contains(#""title":"coded""#))
        }
    }

    @Test func `count decoded, and stop at the limit (H118)`() async throws {
        let scene = try await Scene.make()
        var noise = SystemRandomNumberGenerator()
        let large = (0..<1_100_000).map { _ in UInt8.random(in: 0x30...0x39, using: &noise) }
        let bomb = coded([UInt8](repeating: 0x20, count: 1 << 20), .gzip)
        for octets in [coded(large, .gzip), bomb] {
            for door in doors(scene) {
                let answer = try await scene.ask(
                    "POST", conversations, fields: [("Content-Encoding", "gzip")], octets: octets,
                    by: door)
                #expect(answer.status == 413)
                #expect(answer.body.contains(#""code":10,"#))
            }
        }
    }

    @Test func `that break off or go on are no request, and nothing is stored (H119)`()
        async throws
    {
        let scene = try await Scene.make()
        let whole = coded(draft.utf8, .gzip)
        let before = try await scene.eventCount()
        for octets in [Array(whole.dropLast()), whole + [0], Array(draft.utf8)] {
            for door in doors(scene) {
                let answer = try await scene.ask(
                    "POST", conversations, fields: [("Content-Encoding", "gzip")], octets: octets,
                    by: door)
                #expect(answer.status == 400)
            }
        }
        #expect(try await scene.eventCount() == before)
    }

    @Test func `of unknown length need no length (H54)`() async throws {
        let scene = try await Scene.make()
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
