import Glibc
import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import TestSupport
import Testing

@testable import PlatformAPI

@Suite struct `Moving an application over HTTP` {
    private let export = "/apps/{app}/export"
    private let importing = "/apps/{app}/import"

    @Test(arguments: [false, true])
    func `what was exported and imported is exported again byte for byte, contents too (X10)`(
        overSocket: Bool
    ) async throws {
        let scene = try await lived()
        let lines = try await lines(of: scene, overSocket)
        #expect(lines.split(separator: "\n").count { $0.contains(#"{"record":"bytes""#) } == 4)
        for world in [try await TestServer.separate(), try await TestServer.elsewhere()] {
            let copy = try await scene.empty(in: world)
            let answer = try await take(lines, copy, overSocket)
            #expect(answer.status == 200, "\(answer)")
            #expect(answer.body.contains(#""changed":true"#))
            #expect(try await self.lines(of: copy, overSocket) == lines)
            let again = try await take(lines, copy, overSocket)
            #expect(again.body.contains(#""changed":false"#), "\(again)")
            #expect(try await self.lines(of: copy, overSocket) == lines)
        }
    }

    @Test func `with the bytes left out only what has none can be brought (X10)`() async throws {
        let scene = try await lived()
        let answer = try await scene.ask("GET", export + "?contents=none", by: scene.client)
        #expect(!answer.body.contains(#"{"record":"bytes""#))
        let copy = try await scene.empty(in: try await TestServer.separate())
        let taken = try await take(answer.body, copy)
        #expect(taken.status == 422)
        #expect(taken.body.contains("whose bytes are neither here nor on the lines before"))
    }

    @Test func `it comes coded, under a key, and in pieces (X2, X10, H117)`() async throws {
        let scene = try await lived()
        let lines = try await lines(of: scene)
        let copy = try await scene.empty(in: try await TestServer.separate())
        let coded = Deflater(.gzip).compress(Array(lines.utf8).span, .finish)
        let fields = [
            (name: "Content-Encoding", value: "gzip"), (name: "Idempotency-Key", value: "k"),
            (name: "Content-Type", value: "application/jsonl"),
        ]
        let ask = { fields, bytes in
            try await copy.ask("POST", importing, fields: fields, bytes: bytes, by: copy.client)
        }
        let first = try await ask(fields, coded)
        #expect(first.status == 200, "\(first)")
        let count = try await copy.eventCount()
        let again = try await ask(fields, coded)
        #expect(again["Idempotent-Replayed"] == "true")
        #expect(again.body == first.body)
        #expect(try await copy.eventCount() == count)
        let line = Array(lines.utf8).prefix { byte in byte != UInt8(ascii: "\n") }
        let other = try await ask(Array(fields.dropFirst()), Array(line))
        #expect(other.status == 422 && other.body.contains("idempotency_key_reuse"), "\(other)")
        #expect(try await self.lines(of: copy) == lines)
    }

    @Test(arguments: [0.2, 0.5, 0.8, 0.99])
    func `one that was cut anywhere and is repeated comes to the same (X10)`(
        share: Double
    ) async throws {
        let scene = try await lived()
        let lines = try await lines(of: scene)
        let copy = try await scene.empty(in: try await TestServer.separate())
        let cut = lines.prefix(Int(Double(lines.count) * share))
        #expect([200, 400, 422].contains(try await take(String(cut), copy).status))
        #expect(try await take(lines, copy).status == 200)
        #expect(try await self.lines(of: copy) == lines)
    }

    @Test func `a content whose bytes are others is refused with what names it (X10)`()
        async throws
    {
        let scene = try await lived()
        let lines = try await lines(of: scene)
        let copy = try await scene.empty(in: try await TestServer.separate())
        let start = #""at":0,"data":""#
        let wrong = lines.replacing(start + "YWFh", with: start + "YWFi")
        #expect(wrong != lines)
        let answer = try await take(wrong, copy)
        #expect(answer.status == 422)
        #expect(answer.body.contains("sha256 is not that of the bytes on the lines before"))
        #expect(try await take(lines, copy).status == 200)
        #expect(try await self.lines(of: copy) == lines)
    }

    @Test(arguments: [800_002, 3, 2] as [Int64])
    func `more than the quota is refused, and comes once that is raised (X10, 11.6)`(
        quota: Int64
    ) async throws {
        let scene = try await lived()
        let lines = try await lines(of: scene)
        let copy = try await scene.empty(in: try await TestServer.holding(atMost: quota))
        for _ in 1...2 {
            let answer = try await take(lines, copy)
            #expect(answer.status == 507, "\(answer)")
            #expect(answer.body.contains(#""id":"quota_exceeded""#), "\(answer)")
            #expect(answer.body.contains("may store \(quota) bytes"))
            let held = try await copy.world.store.contentBytes(in: copy.application)
            #expect(held == (quota < 3 ? 0 : 3))
            // Each content that is named can be read whole.
            let kept = try await self.lines(of: copy)
            #expect(
                kept.split(separator: "\n").count { $0.contains(#"{"record":"bytes""#) }
                    == (held == 0 ? 0 : 1)
            )
        }
        let raised = try await copy.reopened(holding: 800_003)
        #expect(try await take(lines, raised).status == 200)
        #expect(try await self.lines(of: raised) == lines)
    }

    @Test func `small contents of one transaction are counted together (X10, 11.6)`() async throws {
        let scene = try await lived(sizes: [4, 4, 4])
        let lines = try await lines(of: scene)
        let copy = try await scene.empty(in: try await TestServer.holding(atMost: 11))
        #expect(try await take(lines, copy).status == 507)
        #expect(try await copy.world.store.contentBytes(in: copy.application) == 8)
    }

    @Test func `contents of a refused record are cleaned up, or needed later (X10, 11.8)`()
        async throws
    {
        let scene = try await lived(sizes: [4])
        let lines = try await lines(of: scene)
        let copy = try await scene.empty(in: try await TestServer.separate())
        let parts = lines.split(separator: "\n").map(String.init)
        let bytes = try #require(parts.firstIndex { $0.contains(#"{"record":"bytes""#) })
        let id = try #require(parts[bytes].wholeMatch(of: /.*"content":"([^"]*)".*/)?.1)
        // The conversation of the message is nowhere.
        let refused = [parts[0], parts[bytes], parts[bytes + 1]].joined(separator: "\n")
        let answer = try await take(refused, copy)
        #expect(answer.status == 422 && answer.body.contains("neither on a line before nor here"))
        let store = copy.world.store
        #expect(try await store.contentBytes(in: copy.application) == 4)
        try await store.withdrawUnusedContents(
            completedBefore: Timestamp(milliseconds: .max), limit: 10)
        let dropped = try await store.droppedContents(limit: 10)
        #expect(dropped.map(\.id.uuid) == [id.suffix(36).lowercased()])
        try await store.eraseContents(dropped.map(\.id), in: copy.application)
        #expect(try await take(lines, copy).status == 200)
        #expect(try await self.lines(of: copy) == lines)
    }

    @Test func `a content of another application stays its own (X10, X12)`() async throws {
        let scene = try await lived()
        let lines = try await lines(of: scene)
        let thief = try await SampleApplication.make(version: "3.0", in: scene.world)
        let taken = lines.replacing(scene.application.uuid, with: thief.application.uuid)
        let answer = try await take(taken, thief)
        #expect(answer.status == 422)
        #expect(answer.body.contains("is that of a content of another application"), "\(answer)")
        #expect(try await self.lines(of: scene) == lines)
    }

    @Test(arguments: [false, true])
    func `others send while it comes, and nothing is lost (X10)`(overSocket: Bool) async throws {
        let scene = try await lived(messages: 300)
        let lines = try await lines(of: scene)
        let copy = try await scene.empty(in: try await TestServer.separate())
        let conversation = try await copy.conversation()
        async let answer = take(lines, copy, overSocket)
        for _ in 0..<20 { try await copy.say(2, in: conversation) }
        #expect(try await answer.status == 200)
        let list = try await copy.ask(
            "GET", "/apps/{app}/conversations/\(conversation.uuid)/messages", by: copy.client)
        #expect(list["Layer-Count"] == "40")
        #expect(try await take(lines, copy).body.contains(#""changed":false"#))
    }

    @Test func `a transaction holds few lines, so no writer waits for long (X10)`() async throws {
        let scene = try await lived(messages: 300)
        let lines = try await lines(of: scene)
        let copy = try await scene.empty(in: try await TestServer.separate())
        let before = copy.world.commits
        #expect(try await take(lines, copy).status == 200)
        #expect(copy.world.commits - before >= lines.split(separator: "\n").count / 64)
    }

    @Test func `one at a time in an application, and two in all (X10)`() async throws {
        let seats = TransferSlots(atMost: 2)
        let ids = (0..<3).compactMap { number in
            Application.ID(bytes: [UInt8](repeating: number, count: 16))
        }
        var held = [try seats.slot(for: ids[0], "It")]
        #expect(throws: APIError.self) { try seats.slot(for: ids[0], "It") }
        held.append(try seats.slot(for: ids[1], "It"))
        #expect(throws: APIError.self) { try seats.slot(for: ids[2], "It") }
        held = []
        _ = try seats.slot(for: ids[2], "It")
        #expect(held.isEmpty)
    }

    @Test func `a client that disconnects frees its slot (X10)`() async throws {
        let scene = try await lived(messages: 300)
        for _ in 1...3 {
            let client = SocketClient(port: scene.world.port)
            let socket = try client.connected()
            let head = [
                "GET \(export) HTTP/1.1", "Host: a", "Authorization: Bearer {token}",
                "Accept: application/vnd.layer+json; version=3.0", "", "",
            ].joined(separator: "\r\n")
            try client.send(socket, Array(head.filled(with: scene.variables).utf8))
            Glibc.close(socket)
        }
        var answer = try await scene.ask("GET", export, by: scene.client)
        while answer.status == 409 {
            #expect(answer["Retry-After"] == "1")
            try await Task.sleep(for: .milliseconds(50))
            answer = try await scene.ask("GET", export, by: scene.client)
        }
        #expect(answer.status == 200)
    }

    // MARK: -

    /// A scene with a little of everything that clients make, on a server of its own.
    private func lived(
        messages: Int = 12, sizes: [Int] = [3, 800_000, 0]
    ) async throws -> SampleApplication {
        let scene = try await SampleApplication.make(
            version: "3.0", in: try await TestServer.separate())
        let conversation = try await scene.conversation()
        try await scene.say(messages, in: conversation)
        _ = try await scene.ask(
            "POST", "/apps/{app}/users/ana/identity", #"{"display_name":"Ana é\n"}"#,
            by: scene.client)
        for size in sizes {
            let made = try await scene.ask(
                "POST", "/apps/{app}/conversations/\(conversation.uuid)/content",
                fields: [
                    ("Upload-Content-Type", "image/png"), ("Upload-Content-Length", "\(size)"),
                ], by: scene.client)
            let content = try JSONDocument(Array(made.body.utf8)).root
            let (id, url) = (content["id"]?.string ?? "", content["upload_url"]?.string ?? "")
            _ = try await scene.client.ask(
                PlainRequest(
                    method: "PUT", target: String(url.dropFirst(TestServer.base.count)), fields: [],
                    body: "", bytes: Self.bytes(size)))
            for _ in 1...2 {
                let sent = try await scene.ask(
                    "POST", "/apps/{app}/conversations/\(conversation.uuid)/messages",
                    """
                    {"sender_id":"ana","parts":[{"mime_type":"image/png",\
                    "content":{"id":"\(id)","size":\(size)}}]}
                    """, by: scene.client)
                #expect(sent.status == 201, "\(sent)")
            }
        }
        return scene
    }

    /// The first are `aaa`, and all of them do not compress.
    private static func bytes(_ count: Int) -> [UInt8] {
        var any = SeededGenerator(1)
        return Array(repeating: UInt8(ascii: "a"), count: min(3, count))
            + any.bytes(max(0, count - 3))
    }

    private func lines(of scene: SampleApplication, _ overSocket: Bool = false) async throws
        -> String
    {
        try await scene.exported(overSocket)
    }

    private func take(
        _ lines: String, _ scene: SampleApplication, _ overSocket: Bool = false
    ) async throws -> PlainAnswer {
        try await scene.bring(Array(lines.utf8), overSocket)
    }
}
