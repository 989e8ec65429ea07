import Messaging
import Testing

/// Links without a configured public URL (ruling 36).
@Suite struct `Links behind a proxy` {
    @Test func `take scheme and host from the trusted proxy, each answer from its own request`()
        async throws
    {
        try await expectLinks(in: World.behindProxy())
    }

    @Test func `are the same from a database that processes share`() async throws {
        try await expectLinks(in: World.behindProxy(at: Workshop.server(of:)))
    }

    private func expectLinks(in world: World) async throws {
        let scene = try await Scene.make(version: "3.0", in: world)
        let own = "https://chat.example.com"
        func ask(
            _ method: String, _ path: String, _ body: String = "",
            by fields: [(name: String, value: String)] = []
        ) async throws -> PlainAnswer {
            try await scene.ask(
                method, path, body, fields: fields, by: SocketDoor(port: world.port))
        }
        func proxy(_ host: String, _ scheme: String) -> [(name: String, value: String)] {
            [
                ("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Host", host),
                ("X-Forwarded-Proto", scheme),
            ]
        }
        let one = (proxy("one.example", "https"), "https://one.example")
        let two = (proxy("two.example:8080", "http"), "http://two.example:8080")
        let made = try await ask(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"]}"#, by: one.0)
        #expect(made.body.contains(#""url":"\#(one.1)/apps/"#), "\(made)")
        let conversation = try #require(made["Location"])
        let sent = try await ask(
            "POST", "\(conversation)/messages",
            #"{"sender_id":"layer:///identities/ana","parts":[{"mime_type":"a/b","body":"x"}]}"#,
            by: two.0)
        #expect(sent.body.contains(#""url":"\#(two.1)/apps/"#), "\(sent)")
        let message = try #require(sent["Location"])
        // Twice, so that what is remembered of the first answer might be the second one.
        for (fields, base) in [one, two, one, two, ([], own), one] {
            let read = try await ask("GET", message, by: fields)
            #expect(read.body.contains(#""url":"\#(base)/apps/"#), "\(read)")
            let others = [one.1, two.1, own].filter { $0 != base }
            #expect(!others.contains { read.body.contains("\($0)/") }, "\(read)")
            let missing = try await ask("GET", "\(conversation)/messages/x", by: fields)
            #expect(missing.body.contains(#""url":"\#(base)/docs/errors#"#), "\(missing)")
            let content = try await ask(
                "POST", "\(conversation)/content",
                by: fields + [("Upload-Content-Type", "a/b"), ("Upload-Content-Length", "1")])
            #expect(content.body.contains(#""upload_url":"\#(base)/uploads/"#), "\(content)")
            let tus = try await ask(
                "POST", "/uploads",
                by: fields + [("Tus-Resumable", "1.0.0"), ("Upload-Length", "1")])
            #expect(tus["Location"]?.hasPrefix("\(base)/uploads/") == true, "\(tus)")
        }
        // What a client makes up, and what no proxy of ours says, changes nothing.
        for fields in [
            [("X-Forwarded-Host", "one.example")],
            [("Forwarded", "for=192.0.2.1;host=one.example")],
            proxy("evil.example/x", "https"), proxy("<script>", "https"),
        ] as [[(name: String, value: String)]] {
            let read = try await ask("GET", message, by: fields)
            #expect(read.body.contains(#""url":"\#(own)/apps/"#), "\(read)")
        }
        // Events are shown to readers of all hosts alike.
        let events = try await ask("GET", "/apps/{app}/events?after=0", by: one.0)
        #expect(events.body.contains("\(own)/apps/") && !events.body.contains(one.1), "\(events)")
        let description = try await ask("GET", "/openapi.json", by: one.0)
        #expect(description.body.contains(#""servers":[{"url":"/"}]"#))
    }
}
