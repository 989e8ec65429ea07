import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import TestSupport
import Testing

@testable import PlatformAPI

@Suite struct `Export and import over HTTP` {
    private let export = "/apps/{app}/export"
    private let importing = "/apps/{app}/import"

    @Test(arguments: [false, true])
    func `an import is exported again byte for byte, contents included (X10)`(
        overSocket: Bool
    ) async throws {
        let sample = try await populatedApplication()
        let lines = try await lines(of: sample, overSocket)
        #expect(lines.split(separator: "\n").count { $0.contains(#"{"record":"bytes""#) } == 4)
        for server in [try await TestServer.separate(), try await TestServer.onOtherEngine()] {
            let copy = try await sample.empty(in: server)
            let answer = try await take(lines, copy, overSocket)
            #expect(answer.status == 200, "\(answer)")
            #expect(answer.body.contains(#""changed":true"#))
            #expect(try await self.lines(of: copy, overSocket) == lines)
            let again = try await take(lines, copy, overSocket)
            #expect(again.body.contains(#""changed":false"#), "\(again)")
            #expect(try await self.lines(of: copy, overSocket) == lines)
        }
    }

    @Test func `an export without bytes can be imported only without contents (X10)`() async throws
    {
        let sample = try await populatedApplication()
        let answer = try await sample.send("GET", export + "?contents=none", by: sample.client)
        #expect(!answer.body.contains(#"{"record":"bytes""#))
        let copy = try await sample.empty(in: try await TestServer.separate())
        let taken = try await take(answer.body, copy)
        #expect(taken.status == 422)
        #expect(taken.body.contains("whose bytes are neither here nor on the lines before"))
    }

    @Test func `an import can be compressed, have a key, and arrive in chunks (X2, X10, H117)`()
        async throws
    {
        let sample = try await populatedApplication()
        let lines = try await lines(of: sample)
        let copy = try await sample.empty(in: try await TestServer.separate())
        let coded = Deflater(.gzip).compress(Array(lines.utf8).span, .finish)
        let fields = [
            (name: "Content-Encoding", value: "gzip"), (name: "Idempotency-Key", value: "k"),
            (name: "Content-Type", value: "application/jsonl"),
        ]
        let send = { fields, bytes in
            try await copy.send("POST", importing, fields: fields, bytes: bytes, by: copy.client)
        }
        let first = try await send(fields, coded)
        #expect(first.status == 200, "\(first)")
        let count = try await copy.eventCount()
        let again = try await send(fields, coded)
        #expect(again["Idempotent-Replayed"] == "true")
        #expect(again.body == first.body)
        #expect(try await copy.eventCount() == count)
        let line = Array(lines.utf8).prefix { byte in byte != UInt8(ascii: "\n") }
        let other = try await send(Array(fields.dropFirst()), Array(line))
        #expect(other.status == 422 && other.body.contains("idempotency_key_reuse"), "\(other)")
        #expect(try await self.lines(of: copy) == lines)
    }

    @Test(arguments: [0.2, 0.5, 0.8, 0.99])
    func `an interrupted and repeated import has the same result (X10)`(
        share: Double
    ) async throws {
        let sample = try await populatedApplication()
        let lines = try await lines(of: sample)
        let copy = try await sample.empty(in: try await TestServer.separate())
        let cut = lines.prefix(Int(Double(lines.count) * share))
        #expect([200, 400, 422].contains(try await take(String(cut), copy).status))
        #expect(try await take(lines, copy).status == 200)
        #expect(try await self.lines(of: copy) == lines)
    }

    @Test func `a content with other bytes or another size is rejected (X10)`()
        async throws
    {
        let sample = try await populatedApplication()
        let lines = try await lines(of: sample)
        let copy = try await sample.empty(in: try await TestServer.separate())
        let start = #""at":0,"data":""#
        let wrong = lines.replacing(start + "YWFh", with: start + "YWFi")
        #expect(wrong != lines)
        let answer = try await take(wrong, copy)
        #expect(answer.status == 422)
        #expect(answer.body.contains("sha256 is not that of the bytes on the lines before"))
        let longer = try await take(lines.replacing(#""size":3"#, with: #""size":4"#), copy)
        #expect(longer.status == 422)
        #expect(longer.body.contains("size must be 3, the number of bytes on the lines before"))
        #expect(try await take(lines, copy).status == 200)
        #expect(try await self.lines(of: copy) == lines)
    }

    @Test(arguments: [800_002, 3, 2] as [Int64])
    func `an import above the quota is rejected, and succeeds once it is raised (X10, 11.6)`(
        quota: Int64
    ) async throws {
        let sample = try await populatedApplication()
        let lines = try await lines(of: sample)
        let copy = try await sample.empty(in: try await TestServer.withQuota(of: quota))
        for _ in 1...2 {
            let answer = try await take(lines, copy)
            #expect(answer.status == 507, "\(answer)")
            #expect(answer.body.contains(#""id":"quota_exceeded""#), "\(answer)")
            #expect(answer.body.contains("may store \(quota) bytes"))
            let held = try await copy.server.store.contentBytes(in: copy.application)
            #expect(held == (quota < 3 ? 0 : 3))
            // Each content in use can be read completely.
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
        let sample = try await populatedApplication(sizes: [4, 4, 4])
        let lines = try await lines(of: sample)
        let copy = try await sample.empty(in: try await TestServer.withQuota(of: 11))
        #expect(try await take(lines, copy).status == 507)
        #expect(try await copy.server.store.contentBytes(in: copy.application) == 8)
    }

    @Test func `contents of a rejected record are deleted, or used later (X10, 11.8)`()
        async throws
    {
        let sample = try await populatedApplication(sizes: [4])
        let lines = try await lines(of: sample)
        let copy = try await sample.empty(in: try await TestServer.separate())
        let parts = lines.split(separator: "\n").map(String.init)
        let bytes = try #require(parts.firstIndex { $0.contains(#"{"record":"bytes""#) })
        let id = try #require(parts[bytes].wholeMatch(of: /.*"content":"([^"]*)".*/)?.1)
        // The conversation of the message does not exist.
        let refused = [parts[0], parts[bytes], parts[bytes + 1]].joined(separator: "\n")
        let answer = try await take(refused, copy)
        #expect(
            answer.status == 422
                && answer.body.contains("must be on an earlier line, or exist here"))
        let store = copy.server.store
        #expect(try await store.contentBytes(in: copy.application) == 4)
        try await store.withdrawUnusedContents(
            completedBefore: Timestamp(milliseconds: .max), limit: 10)
        let dropped = try await store.droppedContents(limit: 10)
        #expect(dropped.map(\.id.uuid) == [id.suffix(36).lowercased()])
        try await store.eraseContents(dropped.map(\.id), in: copy.application)
        #expect(try await take(lines, copy).status == 200)
        #expect(try await self.lines(of: copy) == lines)
    }

    @Test func `a content of another application cannot be imported (X10, X12)`() async throws {
        let sample = try await populatedApplication()
        let lines = try await lines(of: sample)
        let otherApplication = try await SampleApplication.make(version: "3.0", in: sample.server)
        let taken = lines.replacing(
            sample.application.uuid, with: otherApplication.application.uuid)
        let answer = try await take(taken, otherApplication)
        #expect(answer.status == 422)
        #expect(answer.body.contains("is that of a content of another application"), "\(answer)")
        #expect(try await self.lines(of: sample) == lines)
    }

    @Test(arguments: [false, true])
    func `messages sent during an import are not lost (X10)`(overSocket: Bool) async throws {
        let sample = try await populatedApplication(messages: 300)
        let lines = try await lines(of: sample)
        let copy = try await sample.empty(in: try await TestServer.separate())
        let conversation = try await copy.conversation()
        async let answer = take(lines, copy, overSocket)
        for _ in 0..<20 { try await copy.sendMessages(2, in: conversation) }
        #expect(try await answer.status == 200)
        let list = try await copy.send(
            "GET", "/apps/{app}/conversations/\(conversation.uuid)/messages", by: copy.client)
        #expect(list["Layer-Count"] == "40")
        #expect(try await take(lines, copy).body.contains(#""changed":false"#))
    }

    @Test func `a transaction has few lines, so that no writer waits for long (X10)`() async throws
    {
        let sample = try await populatedApplication(messages: 800)
        let lines = try await lines(of: sample)
        let copy = try await sample.empty(in: try await TestServer.separate())
        let before = copy.server.commits
        #expect(try await take(lines, copy).status == 200)
        #expect(copy.server.commits - before >= lines.split(separator: "\n").count / 256)
    }

    @Test(arguments: [2, 255, 256, 257, 400, 700])
    func `a rejected line ends an import: all lines before it are kept, and none after it (X10)`(
        number: Int
    ) async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let archive = SampleImport(sample)
        let members = ["ana", "bo"].enumerated().map { place, user in
            #""user_id":"\#(user)","place":\#(place),"joined_after":0,"state":"shown","cleared_to":0"#
        }
        let start =
            Array(archive.lines.prefix(3))
            + [archive.conversation(1, isDistinct: false, last: 800, members)]
        let messages = (1...800).map { position in
            archive.message(1000 + position, in: 1, at: position, "ana")
        }
        var wrong = start + messages
        wrong.insert(archive.message(2000, in: 9, at: 1, "ana"), at: start.count + number)
        let stopped = try await take(wrong.joined(separator: "\n"), sample)
        #expect(stopped.status == 422)
        let line = start.count + number + 1
        #expect(stopped.body.contains("Line \(line): conversation must be on an earlier line"))
        func count() async throws -> Int {
            try await lines(of: sample).split(separator: "\n")
                .count { line in line.hasPrefix(#"{"record":"message""#) }
        }
        #expect(try await count() == number)
        let all = try await take((start + messages).joined(separator: "\n"), sample)
        #expect(all.status == 200)
        #expect(try await count() == messages.count)
    }

    @Test func `transfers are limited to one per application and two in total (X10)`() async throws
    {
        let slots = TransferSlots(atMost: 2)
        let ids = (0..<3).compactMap { number in
            Application.ID(bytes: [UInt8](repeating: number, count: 16))
        }
        var held = [try slots.slot(for: ids[0], "It")]
        #expect(throws: APIError.self) { try slots.slot(for: ids[0], "It") }
        held.append(try slots.slot(for: ids[1], "It"))
        #expect(throws: APIError.self) { try slots.slot(for: ids[2], "It") }
        held = []
        _ = try slots.slot(for: ids[2], "It")
        #expect(held.isEmpty)
    }

    @Test func `a client that disconnects frees its slot (X10)`() async throws {
        let sample = try await populatedApplication(messages: 300)
        for _ in 1...3 {
            let connection = try ClientConnection(port: sample.server.port)
            let head = [
                "GET \(export) HTTP/1.1", "Host: a", "Authorization: Bearer {token}",
                "Accept: application/vnd.layer+json; version=3.0", "", "",
            ].joined(separator: "\r\n")
            try connection.send(Array(head.filled(with: sample.variables).utf8))
        }
        var answer = try await sample.send("GET", export, by: sample.client)
        while answer.status == 409 {
            #expect(answer["Retry-After"] == "1")
            try await Task.sleep(for: .milliseconds(50))
            answer = try await sample.send("GET", export, by: sample.client)
        }
        #expect(answer.status == 200)
    }

    // MARK: -

    /// An application with every kind of object that clients create, on its own server.
    private func populatedApplication(
        messages: Int = 12, sizes: [Int] = [3, 800_000, 0]
    ) async throws -> SampleApplication {
        let sample = try await SampleApplication.make(
            version: "3.0", in: try await TestServer.separate())
        let conversation = try await sample.conversation()
        try await sample.sendMessages(messages, in: conversation)
        _ = try await sample.send(
            "POST", "/apps/{app}/users/ana/identity", #"{"display_name":"Ana é\n"}"#,
            by: sample.client)
        for size in sizes {
            let made = try await sample.send(
                "POST", "/apps/{app}/conversations/\(conversation.uuid)/content",
                fields: [
                    ("Upload-Content-Type", "image/png"), ("Upload-Content-Length", "\(size)"),
                ], by: sample.client)
            let content = try JSONDocument(Array(made.body.utf8)).root
            let (id, url) = (content["id"]?.string ?? "", content["upload_url"]?.string ?? "")
            _ = try await sample.client.send(
                PlainRequest(
                    method: "PUT", target: String(url.dropFirst(TestServer.base.count)), fields: [],
                    body: "", bytes: Self.bytes(size)))
            for _ in 1...2 {
                let sent = try await sample.send(
                    "POST", "/apps/{app}/conversations/\(conversation.uuid)/messages",
                    """
                    {"sender_id":"ana","parts":[{"mime_type":"image/png",\
                    "content":{"id":"\(id)","size":\(size)}}]}
                    """, by: sample.client)
                #expect(sent.status == 201, "\(sent)")
            }
        }
        return sample
    }

    /// Bytes that start with `aaa` and cannot be compressed.
    private static func bytes(_ count: Int) -> [UInt8] {
        var random = SeededGenerator(1)
        return Array(repeating: UInt8(ascii: "a"), count: min(3, count))
            + random.bytes(max(0, count - 3))
    }

    private func lines(of sample: SampleApplication, _ overSocket: Bool = false) async throws
        -> String
    {
        try await sample.exported(overSocket)
    }

    private func take(
        _ lines: String, _ sample: SampleApplication, _ overSocket: Bool = false
    ) async throws -> PlainAnswer {
        try await sample.importLines(Array(lines.utf8), overSocket)
    }
}
