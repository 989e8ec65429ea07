import JSON
import Messaging
import MessagingStore
import Testing

@Suite struct `A stream of events` {
    @Test func `sends past and new events, as the list does (X3)`() async throws {
        let scene = try await SampleApplication.make(version: "3.0")
        let conversation = try await scene.conversation()
        let stream = try LiveStream(scene)
        _ = try await stream.next(1)
        #expect(stream.head.contains("Content-Type: text/event-stream"))
        try await scene.say(2, in: conversation)
        let end = try await scene.end()
        let seen = try await LiveStream(scene, "?after=0").events(through: end)
        let more = try await stream.events(through: end)
        #expect(seen.dropFirst().map(\.data) == more.map(\.data))
        let listed = try await list(scene, "?after=0")
        #expect(seen.map(\.data) == listed.map { String(decoding: Array($0.raw), as: UTF8.self) })
        #expect(seen.map(\.type) == listed.compactMap { $0["type"]?.string })
        #expect(seen.map(\.id) == Array(1...end))
    }

    @Test func `begins at the end for a client that wants only new events (X3)`() async throws {
        let scene = try await SampleApplication.make()
        let conversation = try await scene.conversation()
        let end = try await scene.end()
        let stream = try LiveStream(scene, "?after=now&types=message.sent,message.read")
        // Its head is there, so it is listening.
        async let first = stream.next(1)
        try await Task.sleep(for: .milliseconds(100))
        try await scene.say(1, in: conversation)
        let event = try #require(try await first.first)
        #expect(event.id == end + 1)
        #expect(event.type == "message.sent")
    }

    @Test func `has no gap and no double while many talk (X3)`() async throws {
        let scene = try await SampleApplication.make()
        let conversations = [try await scene.conversation(), try await scene.conversation()]
        let (start, count) = (try await scene.end(), Int64(400))
        let streams = try (0..<12).map { _ in try LiveStream(scene, "?after=\(start)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { try await scene.say(50, in: conversations[number % 2]) }
            }
            for stream in streams {
                group.addTask {
                    let seen = try await stream.events(through: start + count).map(\.id)
                    #expect(seen == Array(start + 1...start + count))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `goes on where it broke off, again and again, while others talk (X3, H154)`()
        async throws
    {
        let scene = try await SampleApplication.make()
        let conversation = try await scene.conversation()
        let (start, count) = (try await scene.end(), Int64(300))
        async let talk: Void = scene.say(Int(count), in: conversation)
        var seen: [Int64] = []
        while seen.count < Int(count) {
            let stream = try LiveStream(
                scene, "?after=\(start)", lastEventID: seen.last)
            let rest = Int(count) - seen.count
            seen += try await stream.next(min(rest, Int.random(in: 1...70))).compactMap(\.id)
        }
        try await talk
        #expect(seen == Array(start + 1...start + count))
    }

    @Test func `loses nothing for a slow reader, and buffers nothing for it (X3, H156)`()
        async throws
    {
        let scene = try await SampleApplication.make()
        let conversation = try await scene.conversation()
        let start = try await scene.end()
        let slow = try LiveStream(scene, "?after=\(start)", receiveBuffer: 300_000)
        let quick = try LiveStream(scene, "?after=\(start)")
        // More than the ring holds and all buffers on the way.
        async let talk: Void = scene.say(200, in: conversation, parts: 40)
        #expect(
            try await quick.events(through: start + 200).map(\.id)
                == Array(start + 1...start + 200))
        try await talk
        try await scene.say(5, in: conversation)
        #expect(
            try await slow.events(through: start + 205).map(\.id)
                == Array(start + 1...start + 205))
    }

    @Test func `sends only what is wanted, however much lies between (X3)`() async throws {
        let scene = try await SampleApplication.make()
        let conversation = try await scene.conversation()
        let stream = try LiveStream(scene, "?after=0&types=conversation.created")
        try await scene.say(150, in: conversation)
        _ = try await scene.conversation()
        let end = try await scene.end()
        #expect(try await stream.next(2).compactMap(\.id) == [end - 151, end])
    }

    @Test func `a client that received nothing resumes at its position (X3, H154)`() async throws {
        // Trimming concerns all applications.
        let scene = try await SampleApplication.make(in: .separate())
        let conversation = try await scene.conversation()
        let end = try await scene.end()
        let stream = try LiveStream(scene, "?after=now&types=badge.set")
        #expect(try await stream.comes(to: end))
        try await scene.say(3, in: conversation)
        // A heartbeat says it.
        #expect(try await stream.comes(to: end + 3))
        try await scene.world.store.trimLogs(before: Timestamp(milliseconds: 1 << 50))
        #expect(try await refused(scene, "?after=\(end)").status == 410)
        let next = try LiveStream(scene, "?types=badge.set", lastEventID: end + 3)
        #expect(try await next.comes(to: end + 3))
        #expect(next.head.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `ends with its token, and with its application (H158)`() async throws {
        var scene = try await SampleApplication.make()
        let store = scene.world.store
        let created = try await store.createToken(for: scene.application, scope: .read)
        scene.variables["short"] = created.secret
        let (short, other) = (
            try LiveStream(scene, token: "{short}"), try LiveStream(scene)
        )
        let end = try await scene.end()
        _ = try await (short.events(through: end), other.events(through: end))
        try await store.revokeToken(created.token.id, of: scene.application)
        #expect(try await short.next(2).map(\.type) == ["token.revoked"])
        #expect(try await other.next(1).map(\.type) == ["token.revoked"])
        try await store.suspendApplication(scene.application, true)
        #expect(try await other.next(2).map(\.type) == ["application.suspended"])
    }

    @Test func `ends when its token expires (H158)`() async throws {
        // The clock of tests goes by looks, so nothing else may read this one.
        var scene = try await SampleApplication.make(in: try await TestServer.separate())
        let (store, application) = (scene.world.store, scene.application)
        let now = try await store.createToken(for: application, scope: .read).token.createdAt
        scene.variables["short"] = try await store.createToken(
            for: application, scope: .read,
            expiresAt: Timestamp(milliseconds: now.milliseconds + 600)
        ).secret
        let stream = try LiveStream(scene, "?after=now", token: "{short}")
        #expect(try await stream.next(1).isEmpty)
        #expect(stream.head.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `reports the first position to a client that fell behind, and ends (X3, H154)`()
        async throws
    {
        // Trimming concerns all applications.
        let scene = try await SampleApplication.make(in: .separate())
        let conversation = try await scene.conversation()
        let start = try await scene.end()
        let slow = try LiveStream(scene, "?after=\(start)", receiveBuffer: 300_000)
        try await scene.say(200, in: conversation, parts: 40)
        let end = try await scene.end()
        try await scene.world.store.trimLogs(before: Timestamp(milliseconds: 1 << 50))
        let seen = try await slow.next(Int.max)
        let last = try #require(seen.last)
        #expect(last.type == "position_gone")
        #expect(last.id == nil)
        #expect(last.data == #"{"oldest":\#(end + 1)}"#)
        #expect(seen.compactMap(\.id) == Array(start + 1..<start + Int64(seen.count)))
        #expect(seen.count < 200)
        let late = try await refused(scene, "?after=\(start)")
        #expect(late.status == 410)
        #expect(late.body.contains(#""data":{"position":\#(end + 1)}"#))
    }

    @Test func `is one of as many as its token may have, and gives its place back (H157, X5)`()
        async throws
    {
        let scene = try await SampleApplication.make(in: .streaming(2))
        let end = try await scene.end()
        let first = try LiveStream(scene)
        _ = try await first.events(through: end)
        do {
            let second = try LiveStream(scene)
            _ = try await second.events(through: end)
            let third = try await refused(scene, "")
            #expect(third.status == 429)
            #expect(third["Retry-After"] == "60")
            #expect(third.body.contains(#""id":"rate_limited","code":116"#), "\(third)")
            #expect(third.body.contains("2 event streams"), "\(third)")
            #expect(third.body.contains("Retry after 60 seconds."), "\(third)")
            let waiting = try await scene.ask(
                "GET", "/apps/{app}/events?wait=5", by: RouterClient(service: scene.world.service))
            #expect(waiting.status == 429)
            #expect(waiting["Retry-After"] == "1")
            #expect(waiting.body.contains("Retry after 1 second."), "\(waiting)")
        }
        // The second is closed, which the server notices soon.
        var head = "HTTP/1.1 429"
        while head.hasPrefix("HTTP/1.1 429") {
            let next = try LiveStream(scene)
            _ = try? await next.next(1)
            head = next.head
        }
        #expect(head.hasPrefix("HTTP/1.1 200"))
        try await scene.say(1, in: try await scene.conversation())
        #expect(try await first.next(2).count == 2)
    }

    @Test(arguments: [
        ("?after=99999", 422, #""property":"after""#), ("?after=-1", 422, #""property":"after""#),
        ("?types=message.sung", 422, #""property":"types""#),
    ])
    func `is refused by a status before it begins (H155)`(
        query: String, status: Int, text: String
    ) async throws {
        let scene = try await SampleApplication.make()
        let answer = try await refused(scene, query)
        #expect(answer.status == status)
        #expect(answer.body.contains(text))
    }

    @Test(arguments: ["abc", "99999"])
    func `refuses a place it never gave (H154)`(place: String) async throws {
        let scene = try await SampleApplication.make()
        let answer = try await scene.ask(
            "GET", "/apps/{app}/events",
            fields: [("Accept", "text/event-stream"), ("Last-Event-ID", place)],
            by: RouterClient(service: scene.world.service))
        #expect(answer.status == 422)
        #expect(answer.body.contains(#""property":"Last-Event-ID""#))
    }

    /// The answer to a client that asks for a stream and gets none.
    private func refused(_ scene: SampleApplication, _ query: String) async throws -> PlainAnswer {
        try await scene.ask(
            "GET", "/apps/{app}/events\(query)", fields: [("Accept", "text/event-stream")],
            by: RouterClient(service: scene.world.service))
    }

    private func list(_ scene: SampleApplication, _ query: String) async throws -> [JSONValue] {
        let answer = try await scene.ask(
            "GET", "/apps/{app}/events\(query)", by: RouterClient(service: scene.world.service))
        return try JSONDocument(Array(answer.body.utf8)).root["events"]?.elements
            .map(\.self) ?? []
    }
}
