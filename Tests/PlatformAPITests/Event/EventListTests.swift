import JSON
import Testing

@Suite struct `Long polling for events` {
    @Test(arguments: [true, false])
    func `returns events recorded meanwhile (X3)`(overSocket: Bool) async throws {
        let sample = try await SampleApplication.make()
        let conversation = try await sample.conversation()
        let end = try await sample.end()
        async let answer = send(sample, "?after=\(end)&wait=60", overSocket)
        try await Task.sleep(for: .milliseconds(100))
        try await sample.sendMessages(1, in: conversation)
        let page = try JSONDocument(Array(try await answer.body.utf8)).root
        #expect(page["events"]?.elements.map { $0["type"]?.string } == ["message.sent"])
        #expect(page["next"]?.integer == end + 1)
    }

    @Test func `continues over events of other types (X3)`() async throws {
        let sample = try await SampleApplication.make()
        let conversation = try await sample.conversation()
        let end = try await sample.end()
        async let answer = send(
            sample, "?after=\(end)&types=conversation.created&wait=60", true)
        try await Task.sleep(for: .milliseconds(100))
        try await sample.sendMessages(3, in: conversation)
        try await Task.sleep(for: .milliseconds(50))
        _ = try await sample.conversation()
        let page = try JSONDocument(Array(try await answer.body.utf8)).root
        #expect(page["events"]?.elements.map { $0["type"]?.string } == ["conversation.created"])
    }

    @Test func `returns no events at its time limit, with the position to continue at (X3)`()
        async throws
    {
        // The clock of the shared server does not advance while no other test uses it.
        let sample = try await SampleApplication.make(in: .withClock(step: 300))
        let end = try await sample.end()
        let answer = try await send(sample, "?after=now&wait=1", true)
        #expect(answer.status == 200)
        #expect(answer.body == #"{"events":[],"next":\#(end),"scanned":0}"#)
    }

    private func send(
        _ sample: SampleApplication, _ query: String, _ overSocket: Bool
    ) async throws -> PlainAnswer {
        let client: any TestClient =
            overSocket
            ? SocketClient(port: sample.server.port) : RouterClient(service: sample.server.service)
        return try await sample.send("GET", "/apps/{app}/events\(query)", by: client)
    }
}

@Suite struct `A page of large messages` {
    @Test func `ends early, and its Link continues with the rest (1_10, X5)`() async throws {
        var sample = try await SampleApplication.make(version: "3.0")
        let client = RouterClient(service: sample.server.service)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"]}"#, by: client)
        let location = try #require(made["Location"])
        sample.variables["C"] = location.split(separator: "/").last.map(String.init)
        // As large as a body may be.
        let part = #"{"mime_type":"text/plain","body":"\#(String(repeating: "x", count: 980))"}"#
        let parts = Array(repeating: part, count: 1000).joined(separator: ",")
        for _ in 0..<7 {
            let sent = try await sample.send(
                "POST", "/apps/{app}/users/ana/conversations/{C}/messages",
                #"{"parts":[\#(parts)]}"#, by: client)
            try #require(sent.status == 201, "\(sent.status)")
        }
        for list in ["conversations/{C}/messages", "users/bo/conversations/{C}/messages"] {
            var next: String? = "/apps/{app}/\(list)"
            var (ids, pages) = (Set<String>(), 0)
            while let target = next {
                let page = try await sample.send("GET", target, by: client)
                #expect(page["Layer-Count"] == "7")
                #expect(page.body.utf8.count < 8 << 20)
                let messages = try JSONDocument(
                    Array(page.body.utf8), limits: JSONLimits(size: 16 << 20)
                ).root.elements
                for message in messages { ids.insert(message["id"]?.string ?? "") }
                pages += 1
                next = page["Link"]?.split(separator: ">").first.map { link in
                    String(link.dropFirst(1 + TestServer.base.utf8.count))
                }
            }
            #expect(ids.count == 7)
            #expect(pages == 3)
        }
    }
}
