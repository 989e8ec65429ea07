import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import SystemSupport
import TestSupport
import Testing

@testable import PlatformAPI

@Suite struct `Typing and presence` {
    private func signal(_ id: String, _ action: String) -> String {
        #"{"type":"signal","body":{"type":"typing_indicator","object":{"id":"\#(id)"},"data":{"action":"\#(action)"}}}"#
    }

    @Test func `typing reaches the other participants and is never stored (5_7)`() async throws {
        let chat = try await SocketChat.make(in: try await TestServer.typing(step: 3_600_000))
        try await chat.send()
        let (ana, bo) = (try await chat.open(chat.ana), try await chat.open(chat.bo))
        let old = try await chat.open(chat.bo, version: "1.0")
        let events = try await chat.login.sample.eventCount()
        try await ana.socket.send(signal(chat.id, "started"))
        let started = try await bo.next()
        #expect(started["type"]?.string == "signal")
        let body = try #require(started["body"])
        #expect(body["type"]?.string == "typing_indicator")
        #expect(body["object"]?["id"]?.string == chat.id)
        #expect(
            body["object"]?["url"]?.string
                == "\(TestServer.base)/conversations/\(chat.conversation)")
        #expect(body["data"]?["action"]?.string == "started")
        #expect(body["data"]?["sender"]?["id"]?.string == "layer:///identities/ana")
        #expect(try await old.next()["body"]?["data"]?["user_id"]?.string == "ana")
        #expect(try await ana.sync().isEmpty)
        #expect(try await chat.login.sample.eventCount() == events)
        // A message ends it.
        try await chat.send("done")
        let packets = try await bo.next(3)
        #expect(
            packets.contains { $0["body"]?["data"]?["action"]?.string == "finished" })
    }

    @Test func `without repetition typing is paused and then finished (5_7)`() async throws {
        let chat = try await SocketChat.make(in: try await TestServer.typing(step: 100))
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        try await chat.post(
            "/conversations/\(chat.conversation)/typing", #"{"action":"started"}"#, by: chat.ana)
        let actions = try await bo.next(3).map { $0["body"]?["data"]?["action"]?.string }
        #expect(actions == ["started", "paused", "finished"])
    }

    @Test func `the sender of a scheduled message types until it is sent (5_2_1)`() async throws {
        let chat = try await SocketChat.make(in: try await TestServer.typing(step: 20_000))
        try await chat.send()
        let server = chat.login.sample.server
        let bo = try await chat.open(chat.bo)
        let accepted = try await chat.login.sendAsServer(
            "POST", "/apps/{app}/conversations/\(chat.conversation)/messages",
            #"{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"x"}],"schedule":{"delay_in_seconds":2,"typing_indicator_in_seconds":1}}"#
        )
        #expect(accepted.status == 202, "\(accepted.body)")
        // The clock of the test does not go by itself.
        let sender = ScheduledSender(
            store: server.store,
            sleep: { _ in
                server.clock.advance(by: 200)
                await pause(milliseconds: 20)
            }, onTyping: server.service.api.show
        ) { error, _ in Issue.record(error) }
        sender.start()
        var actions: [String] = []
        var packet = try await bo.next()
        while actions.last != "finished" {
            if let action = packet["body"]?["data"]?["action"]?.string { actions.append(action) }
            if packet.what == "create Message" { actions.append("sent") }
            if actions.last != "finished" { packet = try await bo.next() }
        }
        await sender.stop()
        #expect(actions.first == "started")
        #expect(actions.suffix(2) == ["sent", "finished"])
    }

    @Test func `typing of other users, of blocked ones and towards them is dropped (5_7, Y4)`()
        async throws
    {
        let chat = try await SocketChat.make()
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        let dee = try await chat.login.session(of: "dee")
        let path = "/conversations/\(chat.conversation)/typing"
        let outsider = try await chat.login.send(
            "POST", path, #"{"action":"started"}"#, session: dee)
        #expect(outsider.status == 404)
        let socket = try await chat.open(dee)
        try await socket.socket.send(signal(chat.id, "started"))
        #expect(try await socket.sync().isEmpty)
        try await chat.block("ana", by: "bo")
        try await chat.post(path, #"{"action":"started"}"#, by: chat.ana)
        #expect(try await bo.socket.isSilent(for: 500))
        for (body, code) in [("{}", 104), (#"{"action":"sings"}"#, 105)] {
            let invalid = try await chat.login.send("POST", path, body, session: chat.ana)
            #expect(invalid.status == 422)
            #expect(invalid.json?["code"]?.integer == Int64(code))
        }
    }

    @Test
    func `presence reaches subscribed followers (5_8)`()
        async throws
    {
        let chat = try await SocketChat.make()
        try await chat.send()
        let (ana, bo) = (try await chat.open(chat.ana), try await chat.open(chat.bo))
        let deaf = try await chat.open(chat.bo)
        let before = try await bo.request("Presence.subscribe").response
        #expect(before["body"]?["success"]?.bool == true)
        let updated = try await ana.request(
            "Presence.update", #"[{"operation":"set","property":"status","value":"busy"}]"#)
        #expect(updated.response["body"]?["success"]?.bool == true)
        let change = try await bo.next()
        #expect(change.what == "update Identity")
        #expect(change["body"]?["object"]?["id"]?.string == "layer:///identities/ana")
        let operations = try #require(change.packetData).list
        #expect(operations[0]["property"]?.string == "presence.status")
        #expect(operations[0]["value"]?.string == "busy")
        #expect(operations[1]["property"]?.string == "presence.last_seen_at")
        #expect(try await deaf.sync().isEmpty)
        let sync = try await bo.request(
            "Presence.sync", #"{"ids":["layer:///identities/ana","layer:///identities/dee"]}"#
        ).response
        let changes = try #require(sync.packetData?["changes"]).list
        #expect(changes.count == 1, "dee is not followed")
        #expect(changes[0]["data"]?.list.first?["value"]?.string == "busy")
        #expect(sync.packetData?["batch"]?["count"]?.integer == 1)
        let since = try await bo.request(
            "Presence.sync", #"{"since":"2000-01-01T00:00:00Z"}"#
        ).response
        #expect(since.packetData?["changes"]?.count == 1)
        // Invisible is offline to others, and `auto` restores it.
        _ = try await ana.request(
            "Presence.update", #"[{"operation":"set","property":"status","value":"invisible"}]"#)
        #expect(
            try await bo.next().packetData?.list.first?["value"]?.string
                == "offline")
    }

    @Test func `presence ends after the last connection has closed, not before (5_8)`() async throws
    {
        let grace: Int64 = 2000
        let chat = try await SocketChat.make(in: try await TestServer.presence(grace: grace))
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        _ = try await bo.request("Presence.subscribe")
        let status = { (packet: JSONValue) in packet.packetData?.list.first?["value"]?.string }
        let update = #"[{"operation":"set","property":"status","value":"busy"}]"#
        var end = ContinuousClock.now
        do {
            let first = try await chat.open(chat.ana)
            let second = try await chat.open(chat.ana)
            _ = try await first.request("Presence.update", update)
            #expect(status(try await bo.next()) == "busy")
            // The user is still connected.
            try await first.socket.send(8, [0x03, 0xE8])
            #expect(try await first.closeCode() == 1000)
            #expect(try await bo.socket.isSilent(for: Int32(grace) + 500))
            end = .now
            try await second.socket.send(8, [0x03, 0xE8])
            #expect(try await second.closeCode() == 1000)
        }
        #expect(status(try await bo.next()) == "offline")
        #expect(.now - end > .milliseconds(grace / 2))
        // A new connection alone does not restore it; `auto` does.
        let again = try await chat.open(chat.ana)
        let auto = update.replacing("busy", with: "auto")
        _ = try await again.request("Presence.update", auto)
        #expect(status(try await bo.next()) == "busy")
    }

    @Test func `the last time of an invisible user is that of the last time as visible (5_8)`()
        async throws
    {
        let server = try await TestServer.presence(grace: 1)
        let chat = try await SocketChat.make(in: server)
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        func lastSeen() async throws -> String? {
            let answer = try await bo.request(
                "Presence.sync", #"{"ids":["layer:///identities/ana"]}"#
            ).response
            let values = answer.packetData?["changes"]?.list.first?["data"]?.list ?? []
            return values.first { $0["property"]?.string == "presence.last_seen_at" }?["value"]?
                .string
        }
        let ana = try await chat.open(chat.ana)
        for status in ["busy", "invisible"] {
            _ = try await ana.request(
                "Presence.update",
                #"[{"operation":"set","property":"status","value":"\#(status)"}]"#)
        }
        let visible = try #require(try await lastSeen())
        server.clock.advance(by: 3_600_000)
        let open = server.service.api.openSockets
        try await ana.socket.send(8, [0x03, 0xE8])
        #expect(try await ana.closeCode() == 1000)
        for _ in 0..<6000 where server.service.api.openSockets == open {
            await pause(milliseconds: 10)
        }
        #expect(server.service.api.openSockets < open)
        #expect(try await lastSeen() == visible)
    }

    @Test func `Presence.sync answers in batches with one request id (5_8)`() async throws {
        let login = try await LoginFixture.make()
        let session = try await login.session()
        let names = (1...250).map { number in "layer:///identities/user\(number)" }
        let list = names.map { name in "\"\(name)\"" }.joined(separator: ",")
        let followed = try await login.send(
            "POST", "/following/users", "[\(list)]", session: session)
        #expect(followed.status == 202, "\(followed.body)")
        let client = try PacketClient(login, session)
        _ = try await client.sync()
        try await client.socket.send(
            #"{"type":"request","body":{"request_id":"s","method":"Presence.sync","data":{"ids":[\#(list)]}}}"#
        )
        var (indices, users): ([Int64], [String]) = ([], [])
        while indices.count < 3 {
            let packet = try await client.next()
            #expect(packet["body"]?["request_id"]?.string == "s")
            #expect(packet["body"]?["success"]?.bool == true)
            #expect(packet.packetData?["batch"]?["count"]?.integer == 3)
            indices.append(packet.packetData?["batch"]?["index"]?.integer ?? -1)
            let changes = packet.packetData?["changes"]?.list ?? []
            #expect(changes.count <= 100)
            users += changes.compactMap { change in change["object"]?["id"]?.string }
        }
        #expect(indices == [0, 1, 2])
        #expect(Set(users) == Set(names))
        #expect(users.count == names.count)
        let many = (1...1001).map { number in "\"layer:///identities/u\(number)\"" }
        let refused = try await client.request(
            "Presence.sync", "{\"ids\":[\(many.joined(separator: ","))]}")
        #expect(refused.response.packetData?["code"]?.integer == 105)
    }

    @Test func `presence by REST, and none for blocked users (5_8, Y4)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        _ = try await bo.request("Presence.subscribe")
        try await chat.block("bo", by: "ana")
        let set = try await chat.login.send(
            "PUT", "/presence", #"{"status":"away"}"#, session: chat.ana)
        #expect(set.status == 202)
        #expect(try await bo.socket.isSilent(for: 300))
        let own = try await chat.login.send(
            "PUT", "/presence", #"{"status":"auto"}"#, session: chat.bo)
        #expect(own.status == 202)
        let change = try await bo.next()
        #expect(change.packetData?.list.first?["value"]?.string == "available")
        let invalid = try await chat.login.send(
            "PUT", "/presence", #"{"status":"asleep"}"#, session: chat.ana)
        #expect(invalid.status == 422)
        #expect(invalid.json?["data"]?["property"]?.string == "status")
    }

    @Test func `a signal comes after what was committed before it (5_7)`() async throws {
        let chat = try await SocketChat.make(in: try await TestServer.typing(step: 3_600_000))
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        let stream = try LiveStream(
            chat.login.sample, target: "/events?session_token=\(chat.bo)")
        var last = ""
        while last != "ready" { last = try #require(try await stream.next(1).first).type }
        for round in 1...20 {
            try await chat.send("message \(round)", by: chat.ana)
            try await chat.post(
                "/conversations/\(chat.conversation)/typing", #"{"action":"started"}"#,
                by: chat.ana)
            var (packets, action) = ([String](), "")
            while action != "started" {
                let packet = try await bo.next()
                action = packet["body"]?["data"]?["action"]?.string ?? ""
                packets.append(packet["body"]?["object"]?["type"]?.string ?? "signal")
            }
            #expect(packets.contains("Message"))
            var (items, data) = ([String](), "")
            while !data.contains(#""action":"started""#) {
                let event = try #require(try await stream.next(1).first)
                items.append(event.type)
                data = event.data
            }
            #expect(items.contains("item"))
        }
    }

    @Test func `an event stream has the same signals without ids (ruling 42)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let stream = try LiveStream(
            chat.login.sample, target: "/events?session_token=\(chat.bo)")
        var last = ""
        while last != "ready" { last = try #require(try await stream.next(1).first).type }
        try await chat.post(
            "/conversations/\(chat.conversation)/typing", #"{"action":"started"}"#, by: chat.ana)
        let event = try #require(try await stream.next(1).first)
        #expect(event.type == "signal")
        #expect(event.cursor.isEmpty)
        let body = try JSONDocument(Array(event.data.utf8)).root
        #expect(body["data"]?["sender"]?["user_id"]?.string == "ana")
    }
}
