import JSON
import Testing

@Suite struct `Waiting for an event` {
    @Test(arguments: [true, false])
    func `ends with what happens meanwhile (X3)`(overSocket: Bool) async throws {
        let scene = try await SampleApplication.make()
        let conversation = try await scene.conversation()
        let end = try await scene.end()
        async let answer = ask(scene, "?after=\(end)&wait=60", overSocket)
        try await Task.sleep(for: .milliseconds(100))
        try await scene.say(1, in: conversation)
        let page = try JSONDocument(Array(try await answer.body.utf8)).root
        #expect(page["events"]?.elements.map { $0["type"]?.string } == ["message.sent"])
        #expect(page["next"]?.integer == end + 1)
    }

    @Test func `goes on over what is not wanted (X3)`() async throws {
        let scene = try await SampleApplication.make()
        let conversation = try await scene.conversation()
        let end = try await scene.end()
        async let answer = ask(
            scene, "?after=\(end)&types=conversation.created&wait=60", true)
        try await Task.sleep(for: .milliseconds(100))
        try await scene.say(3, in: conversation)
        try await Task.sleep(for: .milliseconds(50))
        _ = try await scene.conversation()
        let page = try JSONDocument(Array(try await answer.body.utf8)).root
        #expect(page["events"]?.elements.map { $0["type"]?.string } == ["conversation.created"])
    }

    @Test func `ends with nothing when its time is over, and says where to go on (X3)`()
        async throws
    {
        let scene = try await SampleApplication.make()
        let end = try await scene.end()
        let answer = try await ask(scene, "?after=now&wait=1", true)
        #expect(answer.status == 200)
        #expect(answer.body == #"{"events":[],"next":\#(end)}"#)
    }

    private func ask(
        _ scene: SampleApplication, _ query: String, _ overSocket: Bool
    ) async throws -> PlainAnswer {
        let client: any TestClient =
            overSocket
            ? SocketClient(port: scene.world.port) : RouterClient(service: scene.world.service)
        return try await scene.ask("GET", "/apps/{app}/events\(query)", by: client)
    }
}

@Suite struct `A page of large messages` {
    @Test func `ends early, and Link leads through all of them (1_10, X5)`() async throws {
        var scene = try await SampleApplication.make(version: "3.0")
        let client = RouterClient(service: scene.world.service)
        let made = try await scene.ask(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"]}"#, by: client)
        let location = try #require(made["Location"])
        scene.variables["C"] = location.split(separator: "/").last.map(String.init)
        // As large as a body may be.
        let part = #"{"mime_type":"text/plain","body":"\#(String(repeating: "x", count: 980))"}"#
        let parts = Array(repeating: part, count: 1000).joined(separator: ",")
        for _ in 0..<7 {
            let sent = try await scene.ask(
                "POST", "/apps/{app}/users/ana/conversations/{C}/messages",
                #"{"parts":[\#(parts)]}"#, by: client)
            try #require(sent.status == 201, "\(sent.status)")
        }
        for list in ["conversations/{C}/messages", "users/bo/conversations/{C}/messages"] {
            var next: String? = "/apps/{app}/\(list)"
            var (ids, pages) = (Set<String>(), 0)
            while let target = next {
                let page = try await scene.ask("GET", target, by: client)
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
