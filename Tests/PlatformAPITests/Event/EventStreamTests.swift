import JSON
import Messaging
import MessagingStore
import Testing

@Suite struct `A stream of events` {
    @Test func `sends past and new events, like the list (X3)`() async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let conversation = try await sample.conversation()
        let stream = try LiveStream(sample)
        _ = try await stream.next(1)
        #expect(stream.head.contains("Content-Type: text/event-stream"))
        try await sample.sendMessages(2, in: conversation)
        let end = try await sample.end()
        let seen = try await LiveStream(sample, "?after=0").events(through: end)
        let more = try await stream.events(through: end)
        #expect(seen.dropFirst().map(\.data) == more.map(\.data))
        let listed = try await list(sample, "?after=0")
        #expect(seen.map(\.data) == listed.map { String(decoding: Array($0.raw), as: UTF8.self) })
        #expect(seen.map(\.type) == listed.compactMap { $0["type"]?.string })
        #expect(seen.map(\.id) == Array(1...end))
    }

    @Test func `starts at the end for a client that wants only new events (X3)`() async throws {
        let sample = try await SampleApplication.make()
        let conversation = try await sample.conversation()
        let end = try await sample.end()
        let stream = try LiveStream(sample, "?after=now&types=message.sent,message.read")
        #expect(try await stream.resumes(at: end))
        try await sample.sendMessages(1, in: conversation)
        let event = try #require(try await stream.next(1).first)
        #expect(event.id == end + 1)
        #expect(event.type == "message.sent")
    }

    @Test func `has no gap and no repetition while many send (X3)`() async throws {
        let sample = try await SampleApplication.make()
        let conversations = [try await sample.conversation(), try await sample.conversation()]
        let (start, count) = (try await sample.end(), Int64(400))
        let streams = try (0..<12).map { _ in try LiveStream(sample, "?after=\(start)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { try await sample.sendMessages(50, in: conversations[number % 2]) }
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

    @Test func `resumes after each disconnection, while others send (X3, H154)`()
        async throws
    {
        let sample = try await SampleApplication.make()
        let conversation = try await sample.conversation()
        let (start, count) = (try await sample.end(), Int64(300))
        async let sending: Void = sample.sendMessages(Int(count), in: conversation)
        var seen: [Int64] = []
        while seen.count < Int(count) {
            let stream = try LiveStream(
                sample, "?after=\(start)", lastEventID: seen.last)
            let rest = Int(count) - seen.count
            seen += try await stream.next(min(rest, Int.random(in: 1...70))).compactMap(\.id)
        }
        try await sending
        #expect(seen == Array(start + 1...start + count))
    }

    @Test func `loses nothing for a slow reader, and buffers a bounded amount (X3, H156)`()
        async throws
    {
        let sample = try await SampleApplication.make()
        let conversation = try await sample.conversation()
        let start = try await sample.end()
        let slow = try LiveStream(sample, "?after=\(start)", receiveBuffer: 4096)
        let quick = try LiveStream(sample, "?after=\(start)")
        // More than the cache of recent events and all socket buffers hold.
        async let sending: Void = sample.sendMessages(200, in: conversation, parts: 40)
        #expect(
            try await quick.events(through: start + 200).map(\.id)
                == Array(start + 1...start + 200))
        try await sending
        try await sample.sendMessages(5, in: conversation)
        #expect(
            try await slow.events(through: start + 205).map(\.id)
                == Array(start + 1...start + 205))
    }

    @Test func `sends only the requested types, however many others lie between (X3)`() async throws
    {
        let sample = try await SampleApplication.make()
        let conversation = try await sample.conversation()
        let stream = try LiveStream(sample, "?after=0&types=conversation.created")
        try await sample.sendMessages(150, in: conversation)
        _ = try await sample.conversation()
        let end = try await sample.end()
        #expect(try await stream.next(2).compactMap(\.id) == [end - 151, end])
    }

    @Test func `a client that received nothing resumes at its position (X3, H154)`() async throws {
        // Trimming affects all applications.
        let sample = try await SampleApplication.make(in: .separate())
        let conversation = try await sample.conversation()
        let end = try await sample.end()
        let stream = try LiveStream(sample, "?after=now&types=badge.set")
        #expect(try await stream.resumes(at: end))
        try await sample.sendMessages(3, in: conversation)
        // A heartbeat has the position.
        #expect(try await stream.resumes(at: end + 3))
        try await sample.server.store.trimLogs(before: Timestamp(milliseconds: 1 << 50))
        #expect(try await refused(sample, "?after=\(end)").status == 410)
        let next = try LiveStream(sample, "?types=badge.set", lastEventID: end + 3)
        #expect(try await next.resumes(at: end + 3))
        #expect(next.head.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `ends when its token is revoked or its application suspended (H158)`() async throws {
        var sample = try await SampleApplication.make()
        let store = sample.server.store
        let created = try await store.createToken(for: sample.application, scope: .read)
        sample.variables["short"] = created.secret
        let (short, other) = (
            try LiveStream(sample, token: "{short}"), try LiveStream(sample)
        )
        let end = try await sample.end()
        _ = try await (short.events(through: end), other.events(through: end))
        try await store.revokeToken(created.token.id, of: sample.application)
        #expect(try await short.next(2).map(\.type) == ["token.revoked"])
        #expect(try await other.next(1).map(\.type) == ["token.revoked"])
        try await store.suspendApplication(sample.application, true)
        #expect(try await other.next(2).map(\.type) == ["application.suspended"])
    }

    @Test func `ends when its token expires (H158)`() async throws {
        // The test clock advances with each read, so only this stream may use it.
        var sample = try await SampleApplication.make(in: try await TestServer.separate())
        let (store, application) = (sample.server.store, sample.application)
        let now = try await store.createToken(for: application, scope: .read).token.createdAt
        sample.variables["short"] = try await store.createToken(
            for: application, scope: .read,
            expiresAt: Timestamp(milliseconds: now.milliseconds + 600)
        ).secret
        let stream = try LiveStream(sample, "?after=now", token: "{short}")
        #expect(try await stream.next(1).isEmpty)
        #expect(stream.head.hasPrefix("HTTP/1.1 200"))
    }

    @Test
    func `reports the first stored position to a client that fell behind, and ends (X3, H154)`()
        async throws
    {
        // Trimming affects all applications.
        let sample = try await SampleApplication.make(in: .separate())
        let conversation = try await sample.conversation()
        let start = try await sample.end()
        let slow = try LiveStream(sample, "?after=\(start)", receiveBuffer: 4096)
        // More bytes than the buffers of both sockets hold, 3 to 5 MB.
        try await sample.sendMessages(200, in: conversation, parts: 100)
        let end = try await sample.end()
        try await sample.server.store.trimLogs(before: Timestamp(milliseconds: 1 << 50))
        let seen = try await slow.next(Int.max)
        let last = try #require(seen.last)
        #expect(last.type == "position_gone")
        #expect(last.id == nil)
        #expect(last.data == #"{"oldest":\#(end + 1)}"#)
        #expect(seen.compactMap(\.id) == Array(start + 1..<start + Int64(seen.count)))
        #expect(seen.count < 200)
        let late = try await refused(sample, "?after=\(start)")
        #expect(late.status == 410)
        #expect(late.body.contains(#""data":{"position":\#(end + 1)}"#))
    }

    @Test func `counts towards the limit of its token, and frees its slot (H157, X5)`()
        async throws
    {
        let sample = try await SampleApplication.make(in: .streaming(2))
        let end = try await sample.end()
        let first = try LiveStream(sample)
        _ = try await first.events(through: end)
        do {
            let second = try LiveStream(sample)
            _ = try await second.events(through: end)
            let third = try await refused(sample, "")
            #expect(third.status == 429)
            #expect(third["Retry-After"] == "60")
            #expect(third.body.contains(#""id":"rate_limited","code":116"#), "\(third)")
            #expect(third.body.contains("2 event streams"), "\(third)")
            #expect(third.body.contains("Retry after 60 seconds."), "\(third)")
            let waiting = try await sample.send(
                "GET", "/apps/{app}/events?wait=5", by: RouterClient(service: sample.server.service)
            )
            #expect(waiting.status == 429)
            #expect(waiting["Retry-After"] == "1")
            #expect(waiting.body.contains("Retry after 1 second."), "\(waiting)")
        }
        // The second one is closed, which the server detects soon.
        var head = "HTTP/1.1 429"
        while head.hasPrefix("HTTP/1.1 429") {
            let next = try LiveStream(sample)
            _ = try? await next.next(1)
            head = next.head
        }
        #expect(head.hasPrefix("HTTP/1.1 200"))
        try await sample.sendMessages(1, in: try await sample.conversation())
        #expect(try await first.next(2).count == 2)
    }

    @Test(arguments: [
        ("?after=99999", 422, #""property":"after""#), ("?after=-1", 422, #""property":"after""#),
        ("?types=message.sung", 422, #""property":"types""#),
    ])
    func `is refused with a status before it starts (H155)`(
        query: String, status: Int, text: String
    ) async throws {
        let sample = try await SampleApplication.make()
        let answer = try await refused(sample, query)
        #expect(answer.status == status)
        #expect(answer.body.contains(text))
    }

    @Test(arguments: ["abc", "99999"])
    func `is refused at an invalid position (H154)`(position: String) async throws {
        let sample = try await SampleApplication.make()
        let answer = try await sample.send(
            "GET", "/apps/{app}/events",
            fields: [("Accept", "text/event-stream"), ("Last-Event-ID", position)],
            by: RouterClient(service: sample.server.service))
        #expect(answer.status == 422)
        #expect(answer.body.contains(#""property":"Last-Event-ID""#))
    }

    /// The response to a request for a stream that is refused.
    private func refused(_ sample: SampleApplication, _ query: String) async throws -> PlainAnswer {
        try await sample.send(
            "GET", "/apps/{app}/events\(query)", fields: [("Accept", "text/event-stream")],
            by: RouterClient(service: sample.server.service))
    }

    private func list(_ sample: SampleApplication, _ query: String) async throws -> [JSONValue] {
        let answer = try await sample.send(
            "GET", "/apps/{app}/events\(query)", by: RouterClient(service: sample.server.service))
        return try JSONDocument(Array(answer.body.utf8)).root["events"]?.elements
            .map(\.self) ?? []
    }
}
