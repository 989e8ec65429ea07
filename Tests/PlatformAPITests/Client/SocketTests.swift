import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import TestSupport
import Testing

@testable import PlatformAPI

@Suite struct `The WebSocket of a session` {
    // MARK: Opening

    @Test(arguments: ["/websocket", "/websockets", "/", ""])
    func `opens on each path, with the token in the query or in the header (5_1)`(
        path: String
    ) async throws {
        let chat = try await SocketChat.make()
        let port = chat.login.sample.server.port
        let inQuery = try WebSocketClient(
            port: port, target: "\(path.isEmpty ? "/" : path)?session_token=\(chat.bo)")
        #expect(inQuery.status == 101)
        #expect(inQuery.head.lowercased().contains("sec-websocket-protocol: layer-3.0"))
        let inHeader = try WebSocketClient(
            port: port, target: path.isEmpty ? "/" : path,
            fields: "Authorization: Layer session-token=\"\(chat.bo)\"\r\n")
        #expect(inHeader.status == 101)
    }

    @Test func `chooses the highest sub-protocol, and needs a known one (5_1)`() async throws {
        let chat = try await SocketChat.make()
        let open = { (names: String?) in
            try WebSocketClient(
                port: chat.login.sample.server.port,
                target: "/websocket?session_token=\(chat.bo)", protocols: names)
        }
        #expect(
            try open("layer-1.0, layer-2.0").head.lowercased()
                .contains("sec-websocket-protocol: layer-2.0"))
        for names in [nil, "layer-4.0", "chat"] { #expect(try open(names).status == 400) }
    }

    @Test func `answers 401 with a nonce without a valid session (5_1)`() async throws {
        let chat = try await SocketChat.make()
        for target in ["/websocket", "/websocket?session_token=unknown", "/?session_token=no"] {
            let socket = try WebSocketClient(
                port: chat.login.sample.server.port, target: target)
            #expect(socket.status == 401, "\(target)")
            let body = try JSONDocument(Array(try await socket.body().utf8)).root
            #expect(body["id"]?.string == "authentication_required")
            #expect(body["data"]?["nonce"]?.string?.isEmpty == false)
        }
    }

    @Test func `refuses pages of origins that are not allowed (5_1, H129)`() async throws {
        let chat = try await SocketChat.make()
        for (origin, status) in [
            ("https://app.example", 101), (TestServer.base, 101), ("https://evil.example", 403),
        ] {
            let socket = try WebSocketClient(
                port: chat.login.sample.server.port,
                target: "/websocket?session_token=\(chat.bo)", fields: "Origin: \(origin)\r\n")
            #expect(socket.status == status, "\(origin)")
        }
    }

    @Test
    func `a page of the host that a trusted proxy names needs no permission (H129, ruling 36)`()
        async throws
    {
        let server = try await TestServer.behindProxy()
        let chat = try await SocketChat.make(in: server)
        for (origin, status) in [("https://own.example", 101), ("https://evil.example", 403)] {
            let socket = try WebSocketClient(
                port: server.port, target: "/websocket?session_token=\(chat.bo)",
                fields: [
                    "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Host: own.example",
                    "X-Forwarded-Proto: https", "Origin: \(origin)",
                ].map { line in "\(line)\r\n" }.joined())
            #expect(socket.status == status, "\(origin)")
        }
    }

    @Test func `a request that is no handshake is told what is missing (5_1, H128)`() async throws {
        let chat = try await SocketChat.make()
        let answer = try await chat.login.send("GET", "/websocket", session: chat.bo)
        #expect(answer.status == 426)
        #expect(answer["Upgrade"] == "websocket")
    }

    @Test(arguments: ["application/json", "text/html", "application/vnd.layer+json; version=1.0"])
    func `Accept of a handshake has no meaning, because browsers cannot set it (5_1)`(
        accept: String
    ) async throws {
        let chat = try await SocketChat.make()
        let socket = try WebSocketClient(
            port: chat.login.sample.server.port, target: "/websocket?session_token=\(chat.bo)",
            fields: "Accept: \(accept)\r\n")
        #expect(socket.status == 101)
    }

    // MARK: Requests

    @Test(arguments: ["1.0", "2.0", "3.0"])
    func `creates a conversation and messages, each answered before its change (5_3)`(
        version: String
    ) async throws {
        let chat = try await SocketChat.make(version: version)
        let client = try await chat.open(chat.ana, version: version)
        let uuid = "0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"
        let name = version == "1.0" ? "cy" : "layer:///identities/cy"
        let created = try await client.request(
            "Conversation.create",
            #"{"id":"layer:///conversations/\#(uuid)","participants":["\#(name)"],"metadata":null}"#
        )
        let body = try #require(created.response["body"])
        #expect(body["success"]?.bool == true, "\(body)")
        #expect(body["method"]?.string == "Conversation.create")
        #expect(body["data"]?["id"]?.string == "layer:///conversations/\(uuid)")
        #expect(body["data"]?["url"]?.string == "\(TestServer.base)/conversations/\(uuid)")
        #expect(created.before.allSatisfy { packet in packet.what != "create Conversation" })
        let sent = try await client.request(
            "Message.create", object: "layer:///conversations/\(uuid)",
            #"{"object_id":"stray","parts":[{"mime_type":"text/plain","body":"on my way"}]}"#)
        #expect(sent.response["body"]?["success"]?.bool == true, "\(sent.response)")
        #expect(sent.response["body"]?["object_id"]?.string == "layer:///conversations/\(uuid)")
        let message = try #require(sent.response.packetData?["id"]?.string)
        var seen = created.before + sent.before
        while seen.last?.what != (version == "1.0" ? "patch Conversation" : "update Conversation") {
            seen.append(try await client.next())
        }
        let kinds = seen.map(\.what).filter { what in !what.hasSuffix("Identity") }
        #expect(
            kinds == [
                "create Conversation", "create Message",
                version == "1.0" ? "patch Conversation" : "update Conversation",
            ])
        let created2 = seen.first { packet in packet.what == "create Message" }
        #expect(created2?["body"]?["object"]?["id"]?.string == message)
        #expect(created2?.packetData?["id"]?.string == message)
        let update = try #require(seen.last?.packetData).list
        #expect(update.first?["property"]?.string == "last_message")
        #expect(update.first?["id"]?.string == message)
        #expect(update.first?["value"] == nil)
        #expect(update.last?["property"]?.string == "unread_message_count")
        #expect(update.last?["value"]?.integer == 0)
    }

    @Test func `answers failures with the errors of REST (5_3)`() async throws {
        let chat = try await SocketChat.make()
        let client = try await chat.open(chat.ana)
        let message = try await chat.send()
        let parts = #""parts":[{"mime_type":"text/plain","body":"x"}]"#
        let cases: [(String, String?, String?, Int64)] = [
            ("Message.create", "layer:///conversations/\(message)", "{\(parts)}", 102),
            ("Message.create", "layer:///channels/\(message)", "{\(parts)}", 102),
            ("Message.create", nil, "{\(parts)}", 102),
            ("Message.create", chat.id, "{}", 104), ("Message.create", chat.id, nil, 104),
            ("Message.create", chat.id, "[]", 10),
            (
                "Message.create", chat.id, #"{"id":"layer:///messages/\#(message)",\#(parts)}"#,
                111
            ),
            ("Conversation.create", nil, #"{"participants":5}"#, 105),
            ("Channel.create", nil, #"{"name":"a"}"#, 9), ("Conversation.delete", chat.id, nil, 9),
            ("Event.replay", nil, nil, 104), ("Event.replay", nil, "5", 104),
            ("Event.replay", nil, #"{"from_timestamp":"yesterday"}"#, 105),
            ("Presence.update", nil, "[]", 105), ("Presence.update", nil, nil, 104),
            (
                "Presence.update", nil,
                #"[{"operation":"set","property":"status","value":"asleep"}]"#, 105
            ),
            ("Presence.sync", nil, nil, 104), ("Presence.sync", nil, #"{"ids":5}"#, 105),
            ("Presence.sync", nil, #"{"since":"now"}"#, 105),
        ]
        for (method, object, data, code) in cases {
            let answer = try await client.request(method, object: object, data).response
            let body = try #require(answer["body"])
            #expect(body["success"]?.bool == false, "\(method) \(data ?? "")")
            #expect(body["data"]?["code"]?.integer == code, "\(method) \(data ?? ""): \(body)")
            #expect(body["data"]?["message"]?.string?.isEmpty == false)
            #expect(body["data"]?["url"]?.string?.hasPrefix(TestServer.base) == true)
        }
        let taken = try await client.request(
            "Message.create", object: chat.id, #"{"id":"layer:///messages/\#(message)",\#(parts)}"#)
        #expect(
            taken.response.packetData?["data"]?["id"]?.string == "layer:///messages/\(message)")
    }

    @Test func `a distinct match answers the existing conversation, a conflict 108 (5_3)`()
        async throws
    {
        let chat = try await SocketChat.make()
        let client = try await chat.open(chat.ana)
        let body = #"{"participants":["layer:///identities/di"],"distinct":true,"metadata":"#
        let first = try await client.request("Conversation.create", body + #"{"a":"1"}}"#)
        let id = try #require(first.response.packetData?["id"]?.string)
        let match = try await client.request("Conversation.create", body + #"{"a":"1"}}"#)
        #expect(match.response["body"]?["success"]?.bool == true)
        #expect(match.response.packetData?["id"]?.string == id)
        let conflict = try await client.request("Conversation.create", body + #"{"a":"2"}}"#)
        #expect(conflict.response["body"]?["success"]?.bool == false)
        #expect(conflict.response.packetData?["code"]?.integer == 108)
        #expect(conflict.response.packetData?["data"]?["id"]?.string == id)
    }

    @Test func `counters begin at 0, and Counter.read names the last one (5_2, 5_3)`()
        async throws
    {
        let chat = try await SocketChat.make()
        let client = try PacketClient(chat.login, chat.ana)
        let first = try await client.request("Counter.read").response
        #expect(first["counter"]?.integer == 0)
        #expect(first.packetData?["counter"]?.integer == -1)
        #expect(first["body"]?["success"]?.bool == true)
        let second = try await client.request("Counter.read").response
        #expect(second.packetData?["counter"]?.integer == 0)
    }

    @Test func `malformed packets are answered if they name a request, else ignored (5_3)`()
        async throws
    {
        let chat = try await SocketChat.make()
        let client = try await chat.open(chat.ana)
        let ignored = [
            "", "x", "[]", "5", "null", "\"\"", "{}", #"{"type":"request"}"#,
            #"{"type":"request","body":5}"#, #"{"type":"request","body":{}}"#,
            #"{"type":"request","body":{"request_id":5,"method":"Counter.read"}}"#,
            #"{"type":"request","body":{"request_id":"a b","method":"Counter.read"}}"#,
            #"{"type":"request","body":{"request_id":"","method":"Counter.read"}}"#,
            #"{"type":"request","body":{"method":"Counter.read"}}"#,
            #"{"type":"signal","body":{"type":"typing_indicator"}}"#,
            #"{"type":"request","type":"request","body":{"request_id":"a","method":"Counter.read"}}"#,
            String(repeating: "[", count: 100_000),
        ]
        for text in ignored { try await client.socket.send(text) }
        #expect(try await client.sync().isEmpty)
        let invalid = [
            #"{"type":"response","body":{"request_id":"a"}}"#, #"{"body":{"request_id":"a"}}"#,
            #"{"type":"request","body":{"request_id":"a"}}"#,
            #"{"type":"request","body":{"request_id":"a","method":5}}"#,
            #"{"type":"request","body":{"request_id":"a","method":"Counter.read","object_id":5}}"#,
            #"{"type":"signal","body":{"request_id":"a","type":"wave"}}"#,
        ]
        for text in invalid {
            try await client.socket.send(text)
            let answer = try await client.next()
            #expect(answer["type"]?.string == "response")
            #expect(answer["body"]?["request_id"]?.string == "a")
            #expect(answer["body"]?["success"]?.bool == false)
            #expect(answer.packetData?["code"]?.integer == 10, "\(text)")
        }
    }

    @Test func `no packet of a client ends a socket or the server (5_3, H191)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let valid = [
            #"{"type":"request","body":{"request_id":"a","method":"Message.create","object_id":"\#(chat.id)","data":{"parts":[{"mime_type":"text/plain","body":"x"}]}}}"#,
            #"{"type":"request","body":{"request_id":"a","method":"Event.replay","data":{"from_timestamp":"2026-03-01T09:15:30.042Z"}}}"#,
            #"{"type":"request","body":{"request_id":"a","method":"Presence.update","data":[{"operation":"set","property":"status","value":"away"}]}}"#,
            #"{"type":"signal","body":{"type":"typing_indicator","object":{"id":"\#(chat.id)"},"data":{"action":"started"}}}"#,
        ]
        var random = SeededGenerator(11)
        let mutated = { (random: inout SeededGenerator) -> [UInt8] in
            var bytes = Array(random.one(of: valid).utf8)
            for _ in 0..<random.number(1...4) where !bytes.isEmpty {
                let index = random.number(0...(bytes.count - 1))
                switch random.number(0...3) {
                case 0: bytes.remove(at: index)
                case 1: bytes.insert(bytes[random.number(0...(bytes.count - 1))], at: index)
                case 2: bytes.removeLast(random.number(0...min(20, bytes.count)))
                default: bytes[index] = UInt8(random.number(32...126))
                }
            }
            return bytes
        }
        for _ in 0..<20_000 { _ = SocketPacket(mutated(&random)) }
        let client = try await chat.open(chat.bo)
        for _ in 0..<150 { try await client.socket.send(1, mutated(&random)) }
        for time in [
            "9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z", "1970-01-01T00:00:00Z", "",
            "2026-03-01T09:15:30.042+23:59",
        ] {
            _ = try await client.request("Event.replay", #"{"from_timestamp":"\#(time)"}"#)
        }
        #expect(try await client.request("Counter.read").response["body"]?["success"]?.bool == true)
    }

    // MARK: Recovery

    @Test func `replays what a client has missed, in order, before the response (5_6)`()
        async throws
    {
        let chat = try await SocketChat.make()
        try await chat.send()
        var last = ""
        do {
            let bo = try await chat.open(chat.bo)
            try await chat.send("seen")
            _ = try await bo.next(2)
            last = bo.lastTimestamp
        }
        var sent: [String] = []
        for text in ["a", "b", "c"] { sent.append(try await chat.send(text)) }
        let bo = try await chat.open(chat.bo)
        let (response, before) = try await bo.request(
            "Event.replay", #"{"from_timestamp":"\#(last)"}"#)
        #expect(response["body"]?["success"]?.bool == true)
        #expect(response.packetData?.count == 0)
        let messages = before.filter { $0.what == "create Message" }
            .map(\.objectID)
        #expect(Array(messages.suffix(3)) == sent)
        #expect(messages.count == 4, "the last one known is sent again")
        let times = before.compactMap { $0["timestamp"]?.string }
        #expect(times == times.sorted())
        #expect(times.allSatisfy { time in time >= last })
        // A new connection without a replay has only what comes after it.
        let fresh = try await chat.open(chat.bo)
        #expect(try await fresh.sync().isEmpty)
    }

    @Test func `replays run one after another (5_6)`() async throws {
        let chat = try await SocketChat.make()
        for number in 0..<5 { try await chat.send("\(number)") }
        let bo = try await chat.open(chat.bo)
        for id in ["x", "y"] {
            try await bo.socket.send(
                #"{"type":"request","body":{"request_id":"\#(id)","method":"Event.replay","data":{"from_timestamp":"2000-01-01T00:00:00Z"}}}"#
            )
        }
        let late = try await chat.send("late")
        var (ids, lates): ([String], [Int]) = ([], [])
        while lates.isEmpty || ids.count < 2 {
            let packet = try await bo.next()
            if packet["type"]?.string == "response" {
                ids.append(packet["body"]?["request_id"]?.string ?? "")
            } else if packet.packetData?["id"]?.string == "layer:///messages/\(late)" {
                lates.append(ids.count)
            }
        }
        #expect(ids == ["x", "y"])
        // A replay that was asked for after a change repeats it.
        #expect((1...3).contains(lates.count))
    }

    @Test func `a restart loses no place: nothing is missed, and nothing comes twice (5_6)`()
        async throws
    {
        let server = try await TestServer.separate()
        var chat = try await SocketChat.make(in: server)
        try await chat.send()
        let first = try await chat.open(chat.bo)
        let seen = try await chat.send("before")
        _ = try await first.next(2)
        let last = first.lastTimestamp
        let sample = try await chat.login.sample.reopened()
        // Sockets are closed one after another within seconds, and this server waits for one.
        let end = try await first.socket.next()
        #expect(end == nil || end?.closeCode == 1001)
        let login = LoginFixture(
            sample: sample, client: SocketClient(port: sample.server.port),
            provider: chat.login.provider, key: chat.login.key, signer: chat.login.signer)
        chat = SocketChat(
            login: login, ana: chat.ana, bo: chat.bo, conversation: chat.conversation)
        let missed = try await chat.send("between")
        let second = try await chat.open(chat.bo)
        let replayed = try await second.request(
            "Event.replay", #"{"from_timestamp":"\#(last)"}"#
        ).before
        let live = try await chat.send("after")
        let packets = replayed + (try await second.next(2))
        let ids = packets.filter { $0.what == "create Message" }
            .map(\.objectID)
        #expect(ids == [seen, missed, live])
    }

    @Test func `clients that are cut and replay have all messages in the end (5_6)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        var random = SeededGenerator(7)
        var (last, known): (String, Set<String>) = ("2000-01-01T00:00:00Z", [])
        var (sent, deleted): (Set<String>, Set<String>) = ([], [])
        for _ in 0..<20 {
            let client = try await chat.open(chat.bo)
            var packets = try await client.request(
                "Event.replay", #"{"from_timestamp":"\#(last)"}"#
            ).before
            for _ in 0..<random.number(0...12) {
                let id = try await chat.send("n")
                sent.insert(id)
                guard random.number(0...3) == 0 else { continue }
                deleted.insert(id)
                let answer = try await chat.login.send(
                    "DELETE", "/messages/\(id)?mode=all_participants", session: chat.ana)
                #expect(answer.status == 204)
            }
            // The connection ends before all of them were read.
            for _ in 0..<random.number(0...8) where !sent.isEmpty {
                guard try await !client.socket.isSilent(for: 100) else { break }
                packets.append(try await client.next())
            }
            for packet in packets {
                let id = packet.objectID
                if packet.what == "create Message" { known.insert(id) }
                if packet.what == "delete Message" { known.remove(id) }
            }
            last = client.lastTimestamp
        }
        let client = try await chat.open(chat.bo)
        for packet in try await client.request("Event.replay", #"{"from_timestamp":"\#(last)"}"#)
            .before
        {
            let id = packet.objectID
            if packet.what == "create Message" { known.insert(id) }
            if packet.what == "delete Message" { known.remove(id) }
        }
        #expect(known.isSuperset(of: sent.subtracting(deleted)))
        #expect(known.isDisjoint(with: deleted))
    }

    @Test func `a slow client misses nothing, and others do not wait for it (5_6, H144)`()
        async throws
    {
        let chat = try await SocketChat.make()
        try await chat.send()
        let token = "/websocket?session_token=\(chat.bo)"
        let slow = try WebSocketClient(
            port: chat.login.sample.server.port, target: token, receiveBuffer: 4096)
        let quick = try await chat.open(chat.bo)
        // Ten megabytes: more than all buffers hold.
        var sent: [String] = []
        for _ in 0..<50 { sent.append(try await chat.sendLarge()) }
        var (seen, late): ([String], [String]) = ([], [])
        while seen.count < sent.count {
            let packet = try await quick.next()
            if packet.what == "create Message" {
                seen.append(packet.objectID)
            }
        }
        #expect(seen == sent)
        while late.count < sent.count {
            let frame = try #require(try await slow.next())
            let packet = try JSONDocument(frame.payload).root
            if packet.what == "create Message" {
                late.append(packet.objectID)
            }
        }
        #expect(late == sent)
    }

    @Test func `a client that reads no answers gets 1013, and a replay has the rest (5_6, H144)`()
        async throws
    {
        let chat = try await SocketChat.make()
        try await chat.send()
        let slow = try PacketClient(chat.login, chat.bo, receiveBuffer: 4096)
        _ = try await slow.sync()
        var sent: [String] = []
        for _ in 0..<50 { sent.append(try await chat.sendLarge()) }
        // Each answer repeats the name of the method. The socket fills the buffers of the connection, lets requests of 1 MiB
        // wait, and refuses the others until 256 KiB of refusals wait too.
        let method = String(repeating: "x", count: 100_000)
        let request = Array(
            #"{"type":"request","body":{"request_id":"r","method":"\#(method)"}}"#.utf8)
        for _ in 0..<150 { try await slow.socket.send(1, request) }
        var seen: [String] = []
        let code = try await slow.closeCode { packet in
            if packet.what == "create Message" { seen.append(packet.objectID) }
        }
        #expect(code == 1013)
        #expect(seen == Array(sent.prefix(seen.count)))
        sent.append(try await chat.send("after the end"))
        let next = try await chat.open(chat.bo)
        let replayed = try await next.request(
            "Event.replay", #"{"from_timestamp":"\#(slow.lastTimestamp)"}"#)
        #expect(replayed.response["body"]?["success"]?.bool == true)
        let rest = replayed.before.filter { packet in packet.what == "create Message" }
            .map(\.objectID)
        // The last packet is sent again.
        #expect(seen.filter { id in !rest.contains(id) } + rest == sent)
    }

    @Test func `large changes together disconnect no client (5_6, H144)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let text = String(repeating: "a", count: 2000)
        let keys = (0..<100).map { number in "\"k\(number)\":\"\(text)\"" }.joined(separator: ",")
        for number in 0..<6 {
            let changed = try await chat.login.send(
                "PATCH", "/conversations/\(chat.conversation)",
                #"[{"operation":"set","property":"metadata","value":{"n":"\#(number)",\#(keys)}}]"#,
                session: chat.ana)
            #expect(changed.status == 204, "\(changed.body)")
        }
        let bo = try await chat.open(chat.bo)
        let (response, before) = try await bo.request(
            "Event.replay", #"{"from_timestamp":"2000-01-01T00:00:00Z"}"#)
        #expect(response["body"]?["success"]?.bool == true)
        let large = before.filter { packet in
            packet.what == "update Conversation"
                && packet.packetData.map { data in Array(data.raw).count > 200_000 } == true
        }
        #expect(large.count == 6)
    }

    @Test func `R112: packets of a conversation are in the order of its events`() async throws {
        let chat = try await SocketChat.make()
        let bo = try await chat.open(chat.bo)
        let sent = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var sent: [String] = []
                    for _ in 0..<25 { sent.append(try await chat.send()) }
                    return sent
                }
            }
            return try await group.reduce(into: Set<String>()) { all, some in all.formUnion(some) }
        }
        var seen: [JSONValue] = []
        while seen.count < sent.count {
            let packet = try await bo.next()
            if packet.what == "create Message" { seen.append(packet) }
        }
        #expect(Set(seen.map(\.objectID)) == sent)
        let positions = seen.compactMap { packet in packet.packetData?["position"]?.integer }
        #expect(positions.count == sent.count)
        #expect(positions == positions.sorted())
    }

    // MARK: The end

    @Test func `closes with 4401 when the session ends (5_1, ruling 46)`() async throws {
        let chat = try await SocketChat.make()
        let (ana, bo) = (try await chat.open(chat.ana), try await chat.open(chat.bo))
        let ended = try await chat.login.send("DELETE", "/sessions/\(chat.bo)")
        #expect(ended.status == 204)
        #expect(try await bo.socket.next()?.closeCode == 4401)
        let suspended = try await chat.login.sendAsServer(
            "PATCH", "/apps/{app}/users/ana",
            #"[{"operation":"set","property":"suspended","value":true}]"#)
        #expect(suspended.status == 202, "\(suspended.body)")
        #expect(try await ana.socket.next()?.closeCode == 4401)
    }

    @Test func `a binary frame closes with 1003, and a frame of 10 MB with 1009 (ruling 46)`()
        async throws
    {
        let chat = try await SocketChat.make()
        let binary = try await chat.open(chat.bo)
        try await binary.socket.send(2, [1, 2, 3])
        #expect(try await binary.socket.next()?.closeCode == 1003)
        let large = try await chat.open(chat.bo)
        // Only the head: the server must not wait for ten megabytes.
        try await large.socket.send(raw: [0x81, 0xFF, 0, 0, 0, 0, 0, 0x98, 0x96, 0x80, 1, 2, 3, 4])
        #expect(try await large.socket.next()?.closeCode == 1009)
    }

    @Test func `too many requests are refused one by one, and slowed down (5_3, H145)`()
        async throws
    {
        let chat = try await SocketChat.make()
        let client = try await chat.open(chat.bo)
        let frame = WebSocketClient.frame(
            1, Array(#"{"type":"request","body":{"request_id":"n","method":"Counter.read"}}"#.utf8))
        // More than the burst of a socket; the server reads them a second later.
        try await client.socket.send(raw: Array(repeatElement(frame, count: 250).joined()))
        var answered = 0
        while answered < 250 {
            let packet = try await client.next()
            #expect(packet["type"]?.string == "response")
            answered += 1
        }
    }
}
