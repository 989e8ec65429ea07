import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import TestSupport
import Testing

@testable import PlatformAPI

/// A WebSocket of a user that checks what every packet must have (client-api §5.2).
final class PacketClient: @unchecked Sendable {
    // Sendable because a test uses it in one task.

    let socket: WebSocketClient
    private var counter: Int64 = -1
    private(set) var lastTimestamp = ""
    private var lastRequest = 0

    init(
        _ login: LoginFixture, _ session: String, version: String = "3.0",
        in server: TestServer? = nil
    ) throws {
        socket = try WebSocketClient(
            port: (server ?? login.sample.server).port,
            target: "/websocket?session_token=\(session)",
            protocols: "layer-\(version)")
        try #require(socket.status == 101, "\(socket.head)")
    }

    /// The next packet; its counter is one above the last.
    func next() async throws -> JSONValue {
        let frame = try #require(try await socket.next())
        try #require(frame.opcode == 1, "\(frame.closeCode ?? 0)")
        let packet = try JSONDocument(frame.payload).root
        counter += 1
        #expect(packet["counter"]?.integer == counter)
        let time = try #require(packet["timestamp"]?.string)
        #expect(TimestampJSON.read(time) != nil)
        lastTimestamp = time
        return packet
    }

    /// The next packets, at least as many.
    func next(_ count: Int) async throws -> [JSONValue] {
        var packets: [JSONValue] = []
        while packets.count < count { packets.append(try await next()) }
        return packets
    }

    /// Sends a request, and returns its response with the packets that came before.
    func request(
        _ method: String, object: String? = nil, _ data: String? = nil
    ) async throws -> (response: JSONValue, before: [JSONValue]) {
        lastRequest += 1
        let id = "r\(lastRequest)"
        var members = [#""method":"\#(method)""#, #""request_id":"\#(id)""#]
        if let object { members.append(#""object_id":"\#(object)""#) }
        if let data { members.append(#""data":\#(data)"#) }
        try await socket.send(
            #"{"type":"request","body":{\#(members.joined(separator: ","))}}"#)
        var before: [JSONValue] = []
        while true {
            let packet = try await next()
            if packet["type"]?.string == "response", packet["body"]?["request_id"]?.string == id {
                return (packet, before)
            }
            before.append(packet)
        }
    }

    func sync() async throws -> [JSONValue] { try await request("Counter.read").before }
}

extension JSONValue {
    /// `operation type` of a change packet, `method` of an operation packet.
    fileprivate var what: String {
        let body = self["body"]
        switch self["type"]?.string {
        case "change":
            return
                "\(body?["operation"]?.string ?? "") \(body?["object"]?["type"]?.string ?? "")"
        case "operation": return body?["method"]?.string ?? ""
        case let type: return type ?? ""
        }
    }

    fileprivate var packetData: JSONValue? { self["body"]?["data"] }

    fileprivate var list: [JSONValue] { elements.map { element in element } }
}

extension PlainAnswer {
    /// The UUID of the object in the answer.
    fileprivate var createdID: String? {
        json?["id"]?.string.map { id in String(id.suffix(36)) }
    }
}

/// A conversation of ana and bo, and a session of each.
struct SocketChat: Sendable {
    let login: LoginFixture
    let ana: String
    let bo: String
    let conversation: String

    static func make(version: String = "3.0", in server: TestServer? = nil) async throws
        -> SocketChat
    {
        let login = try await LoginFixture.make(version: version, in: server)
        let ana = try await login.session()
        let bo = try await login.session(of: "bo")
        let name = version < "2.0" ? "bo" : "layer:///identities/bo"
        let created = try await login.send(
            "POST", "/conversations", #"{"participants":["\#(name)"]}"#, session: ana)
        #expect(created.status == 201, "\(created.body)")
        return SocketChat(
            login: login, ana: ana, bo: bo, conversation: try #require(created.createdID))
    }

    var id: String { "layer:///conversations/\(conversation)" }

    @discardableResult
    func send(_ text: String = "hello", by session: String? = nil) async throws -> String {
        let sent = try await login.send(
            "POST", "/conversations/\(conversation)/messages",
            #"{"parts":[{"mime_type":"text/plain","body":"\#(text)"}]}"#, session: session ?? ana)
        #expect(sent.status == 201, "\(sent.body)")
        return try #require(sent.createdID)
    }

    func open(
        _ session: String, version: String = "3.0", in server: TestServer? = nil
    ) async throws -> PacketClient {
        let client = try PacketClient(login, session, version: version, in: server)
        // The socket has started when it answers.
        _ = try await client.sync()
        return client
    }

    func block(_ user: String, by owner: String) async throws {
        let answer = try await login.sendAsServer(
            "PATCH", "/apps/{app}/users/\(owner)",
            #"[{"operation":"add","property":"blocks","id":"layer:///identities/\#(user)"}]"#)
        #expect(answer.status == 202, "\(answer.body)")
    }

    func post(_ path: String, _ body: String, by session: String) async throws {
        let answer = try await login.send("POST", path, body, session: session)
        #expect((200..<300).contains(answer.status), "\(answer.body)")
    }
}

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

    @Test func `a request that is no handshake is told what is missing (5_1, H128)`() async throws {
        let chat = try await SocketChat.make()
        let answer = try await chat.login.send("GET", "/websocket", session: chat.bo)
        #expect(answer.status == 426)
        #expect(answer["Upgrade"] == "websocket")
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

    // MARK: Changes

    @Test func `tells of a message, its receipts, parts and deletion (5_4)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let (ana, bo) = (try await chat.open(chat.ana), try await chat.open(chat.bo))
        let message = try await chat.send("second")
        let created = try await bo.next(2)
        #expect(created.map(\.what) == ["create Message", "update Conversation"])
        #expect(created[0].packetData?["is_unread"]?.bool == true)
        #expect(created[0].packetData?["url"]?.string == "\(TestServer.base)/messages/\(message)")
        #expect(
            created[1].packetData?.elements.map { $0["value"]?.integer ?? -1 } == [-1, 2])
        _ = try await ana.next(2)
        try await chat.post("/messages/\(message)/receipts", #"{"type":"delivery"}"#, by: chat.bo)
        let delivered = try await ana.next()
        #expect(delivered.what == "update Message")
        #expect(
            delivered.packetData?.elements.map { $0["property"]?.string ?? "" } == [
                "recipient_status.layer:///identities/bo"
            ])
        try await chat.post("/messages/\(message)/receipts", #"{"type":"read"}"#, by: chat.bo)
        _ = try await ana.next()
        _ = try await bo.next()
        let own = try await bo.next(2)
        #expect(own.map(\.what) == ["update Message", "update Conversation"])
        #expect(
            own[0].packetData?.elements.map { $0["property"]?.string ?? "" } == [
                "recipient_status.layer:///identities/bo", "is_unread",
            ])
        let part = try await chat.login.send(
            "POST", "/messages/\(message)/parts", #"{"mime_type":"text/plain","body":"more"}"#,
            session: chat.ana)
        #expect(part.status == 201, "\(part.body)")
        let added = try await bo.next()
        #expect(added.what == "create MessagePart")
        #expect(added.packetData?["body"]?.string == "more")
        let deleted = try await chat.login.send(
            "DELETE", "/messages/\(message)?mode=all_participants", session: chat.ana)
        #expect(deleted.status == 204)
        let gone = try await bo.next(2)
        #expect(gone.map(\.what) == ["delete Message", "update Conversation"])
        #expect(gone[0].packetData?["mode"]?.string == "all_participants")
    }

    @Test func `tells of participants, metadata and deletions of conversations (5_4)`()
        async throws
    {
        let chat = try await SocketChat.make()
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        let patched = try await chat.login.send(
            "PATCH", "/conversations/\(chat.conversation)",
            #"[{"operation":"set","property":"metadata.a","value":"b"},{"operation":"add","property":"participants","id":"layer:///identities/cy"}]"#,
            session: chat.ana)
        #expect(patched.status == 204, "\(patched.body)")
        let seen = try await bo.next(3)
        #expect(Set(seen.map(\.what)) == ["update Conversation", "create Identity"])
        let operations = seen.filter { $0.what == "update Conversation" }
            .flatMap { packet in packet.packetData?.list ?? [] }
        #expect(
            Set(operations.compactMap { $0["property"]?.string }) == [
                "metadata.a", "participants", "distinct",
            ])
        let added = operations.first { $0["operation"]?.string == "add" }
        #expect(added?["id"]?.string == "layer:///identities/cy")
        #expect(added?["value"]?["user_id"]?.string == "cy")
        let hidden = try await chat.login.send(
            "DELETE", "/conversations/\(chat.conversation)?mode=my_devices&leave=false",
            session: chat.bo)
        #expect(hidden.status == 204)
        let cleared = try await bo.next()
        #expect(cleared.what == "delete Conversation")
        #expect(cleared.packetData?["mode"]?.string == "my_devices")
        #expect(cleared.packetData?["from_position"]?.isNull == true)
        try await chat.send("again")
        let again = try await bo.next(4)
        #expect(
            again.map(\.what) == [
                "delete Conversation", "create Conversation", "create Message",
                "update Conversation",
            ])
        #expect(again[0].packetData?["from_position"]?.integer == 65_536)
        let deleted = try await chat.login.send(
            "DELETE", "/conversations/\(chat.conversation)?mode=all_participants",
            session: chat.ana)
        #expect(deleted.status == 204)
        let last = try await bo.next()
        #expect(last.what == "delete Conversation")
        #expect(last.packetData?["mode"]?.string == "all_participants")
    }

    @Test func `tells of participants that leave and that are removed (5_4, R17)`() async throws {
        let chat = try await SocketChat.make()
        let cy = try await chat.login.session(of: "cy")
        let added = try await chat.login.send(
            "PATCH", "/conversations/\(chat.conversation)",
            #"[{"operation":"add","property":"participants","id":"layer:///identities/cy"}]"#,
            session: chat.ana)
        #expect(added.status == 204)
        try await chat.send()
        let (ana, bo) = (try await chat.open(chat.ana), try await chat.open(chat.bo))
        let third = try await chat.open(cy)
        let left = try await chat.login.send(
            "DELETE", "/conversations/\(chat.conversation)?mode=my_devices&leave=true",
            session: chat.bo)
        #expect(left.status == 204)
        let own = try await bo.next()
        #expect(own.what == "delete Conversation")
        #expect(own.packetData?["mode"]?.string == "my_devices")
        for other in [ana, third] {
            let update = try await other.next()
            #expect(update.what == "update Conversation")
            let operation = update.packetData?.list.first
            #expect(operation?["operation"]?.string == "remove")
            #expect(operation?["id"]?.string == "layer:///identities/bo")
        }
        let removed = try await chat.login.send(
            "PATCH", "/conversations/\(chat.conversation)",
            #"[{"operation":"remove","property":"participants","id":"layer:///identities/cy"}]"#,
            session: chat.ana)
        #expect(removed.status == 204)
        let last = try await third.next()
        #expect(last.what == "update Conversation")
        #expect(last.packetData?.list.first?["id"]?.string == "layer:///identities/cy")
        try await chat.send("after")
        #expect(try await third.sync().allSatisfy { $0.what == "delete Identity" })
        #expect(try await bo.sync().allSatisfy { $0.what == "delete Identity" })
    }

    @Test
    func `a wide conversation tells of messages, but not who has read and who types (ruling 38)`()
        async throws
    {
        var limits = MessagingLimits()
        limits.participants = 100
        limits.wideConversation = 3
        let chat = try await SocketChat.make(in: try await TestServer.limited(limits))
        let names = (0..<5).map { "\"layer:///identities/u\($0)\"" }.joined(separator: ",")
        let widened = try await chat.login.send(
            "PATCH", "/conversations/\(chat.conversation)",
            #"[{"operation":"set","property":"participants","value":["layer:///identities/ana","layer:///identities/bo",\#(names)]}]"#,
            session: chat.ana)
        #expect(widened.status == 204, "\(widened.body)")
        try await chat.send()
        let (ana, bo) = (try await chat.open(chat.ana), try await chat.open(chat.bo))
        let message = try await chat.send("wide")
        #expect(try await bo.next(2).map(\.what) == ["create Message", "update Conversation"])
        _ = try await ana.next(2)
        try await chat.post("/messages/\(message)/receipts", #"{"type":"read"}"#, by: chat.bo)
        #expect(try await bo.next(2).map(\.what) == ["update Message", "update Conversation"])
        try await chat.post(
            "/conversations/\(chat.conversation)/typing", #"{"action":"started"}"#, by: chat.bo)
        #expect(try await ana.socket.isSilent(for: 500))
    }

    @Test(arguments: ["1.0", "2.0", "3.0"])
    func `reading all is one operation from 2_0 on, and dots in ids are escaped (5_4, 5_5)`(
        version: String
    ) async throws {
        let chat = try await SocketChat.make(version: version)
        let login = chat.login
        let name = version == "1.0" ? "dot.ted" : "layer:///identities/dot.ted"
        let dotted = try await login.session(of: "dot.ted")
        let created = try await login.send(
            "POST", "/conversations", #"{"participants":["\#(name)"]}"#, session: chat.ana)
        let uuid = try #require(created.createdID)
        for text in ["a", "b"] {
            try await chat.post(
                "/conversations/\(uuid)/messages",
                #"{"parts":[{"mime_type":"text/plain","body":"\#(text)"}]}"#, by: chat.ana)
        }
        let ana = try await chat.open(chat.ana, version: version)
        try await chat.post("/conversations/\(uuid)/mark_all_read", "{}", by: dotted)
        if version == "1.0" {
            let updates = try await ana.next(2)
            #expect(updates.map(\.what) == ["patch Message", "patch Message"])
            let property = updates[0].packetData?.list.first?["property"]
            #expect(property?.string == #"recipient_status.dot\.ted"#)
        } else {
            let operation = try await ana.next()
            #expect(operation.what == "Conversation.mark_all_read")
            #expect(operation["type"]?.string == "operation")
            #expect(operation.packetData?["position"]?.integer == 131_072)
            #expect(operation.packetData?["identity"]?["user_id"]?.string == "dot.ted")
        }
        #expect(try await ana.sync().isEmpty)
    }

    @Test func `tells of announcements and identities (5_4)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        let announced = try await chat.login.sendAsServer(
            "POST", "/apps/{app}/announcements",
            #"{"recipients":["layer:///identities/bo"],"sender_id":"layer:///identities/ana","parts":[{"mime_type":"text/plain","body":"Water off"}]}"#
        )
        #expect(announced.status == 202, "\(announced.body)")
        let announcement = try await bo.next()
        #expect(announcement.what == "create Announcement")
        let id = try #require(announcement.packetData?["id"]?.string?.suffix(36))
        try await chat.post("/announcements/\(id)/receipts", #"{"type":"read"}"#, by: chat.bo)
        #expect(try await bo.next().what == "update Announcement")
        let gone = try await chat.login.send("DELETE", "/announcements/\(id)", session: chat.bo)
        #expect(gone.status == 204)
        #expect(try await bo.next().what == "delete Announcement")
        let followed = try await chat.login.send(
            "PUT", "/following/users/eve", session: chat.bo)
        #expect(followed.status == 204)
        let identity = try await bo.next()
        #expect(identity.what == "create Identity")
        #expect(identity.packetData?["metadata"]?.kind == .object)
        let renamed = try await chat.login.sendAsServer(
            "PATCH", "/apps/{app}/users/eve/identity",
            #"[{"operation":"set","property":"display_name","value":"Eve"}]"#)
        #expect(renamed.status == 204, "\(renamed.body)")
        let changed = try await bo.next()
        #expect(changed.what == "update Identity")
        #expect(
            changed.packetData?.elements.contains { operation in
                operation["property"]?.string == "display_name"
                    && operation["value"]?.string == "Eve"
            } == true)
        let unfollowed = try await chat.login.send(
            "DELETE", "/following/users/eve", session: chat.bo)
        #expect(unfollowed.status == 204)
        let end = try await bo.next()
        #expect(end.what == "delete Identity")
        #expect(end.packetData?.isNull == true)
    }

    @Test func `nothing reaches a user that does not see it (R30, 5_4)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let dee = try await chat.open(try await chat.login.session(of: "dee"))
        let bo = try await chat.open(chat.bo)
        try await chat.block("ana", by: "bo")
        try await chat.send("hidden")
        #expect(try await dee.sync().isEmpty)
        #expect(try await bo.sync().isEmpty)
        #expect(try await bo.socket.isSilent(for: 300))
        #expect(try await dee.socket.isSilent(for: 100))
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
            .compactMap { $0.packetData?["id"]?.string?.suffix(36) }.map(String.init)
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
            .compactMap { $0.packetData?["id"]?.string?.suffix(36) }.map(String.init)
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
                let id = packet["body"]?["object"]?["id"]?.string?.suffix(36).description ?? ""
                if packet.what == "create Message" { known.insert(id) }
                if packet.what == "delete Message" { known.remove(id) }
            }
            last = client.lastTimestamp
        }
        let client = try await chat.open(chat.bo)
        for packet in try await client.request("Event.replay", #"{"from_timestamp":"\#(last)"}"#)
            .before
        {
            let id = packet["body"]?["object"]?["id"]?.string?.suffix(36).description ?? ""
            if packet.what == "create Message" { known.insert(id) }
            if packet.what == "delete Message" { known.remove(id) }
        }
        #expect(known.isSuperset(of: sent.subtracting(deleted)))
        #expect(known.isDisjoint(with: deleted))
    }

    @Test func `what another process does reaches a socket (5_1, 5_4, 5_7, 5_8)`() async throws {
        let first = try await TestServer.onPostgres()
        let second = try await TestServer.sharing(first)
        for server in [first, second] {
            let api = server.service.api
            server.store.listen(onSignal: { application, process, signal in
                api.receive(signal, from: process, in: application)
            })
        }
        let chat = try await SocketChat.make(in: first)
        try await chat.send()
        let bo = try await chat.open(chat.bo, in: second)
        _ = try await bo.request("Presence.subscribe")
        let begin = ContinuousClock.now
        let message = try await chat.send("from the first")
        let packets = try await bo.next(2)
        #expect(packets[0].packetData?["id"]?.string == "layer:///messages/\(message)")
        #expect(ContinuousClock.now - begin < .seconds(2))
        try await chat.post(
            "/conversations/\(chat.conversation)/typing", #"{"action":"started"}"#, by: chat.ana)
        #expect(try await bo.next()["body"]?["data"]?["action"]?.string == "started")
        let set = try await chat.login.send(
            "PUT", "/presence", #"{"status":"away"}"#, session: chat.ana)
        #expect(set.status == 202)
        let change = try await bo.next()
        #expect(change.packetData?.list.first?["value"]?.string == "away")
        #expect(try await chat.login.send("DELETE", "/sessions/\(chat.bo)").status == 204)
        #expect(try await bo.socket.next()?.closeCode == 4401)
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
        let text = String(repeating: "a", count: 2000)
        let parts = repeatElement(#"{"mime_type":"text/plain","body":"\#(text)"}"#, count: 100)
            .joined(separator: ",")
        // Ten megabytes: more than all buffers hold.
        var sent: [String] = []
        for _ in 0..<50 {
            let answer = try await chat.login.send(
                "POST", "/conversations/\(chat.conversation)/messages", #"{"parts":[\#(parts)]}"#,
                session: chat.ana)
            sent.append(try #require(answer.createdID))
        }
        var (seen, late): ([String], [String]) = ([], [])
        while seen.count < sent.count {
            let packet = try await quick.next()
            if packet.what == "create Message" {
                seen.append(packet.packetData?["id"]?.string?.suffix(36).description ?? "")
            }
        }
        #expect(seen == sent)
        while late.count < sent.count {
            let frame = try #require(try await slow.next())
            let packet = try JSONDocument(frame.payload).root
            if packet.what == "create Message" {
                late.append(packet.packetData?["id"]?.string?.suffix(36).description ?? "")
            }
        }
        #expect(late == sent)
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

@Suite struct `Typing and presence` {
    private func signal(_ id: String, _ action: String) -> String {
        #"{"type":"signal","body":{"type":"typing_indicator","object":{"id":"\#(id)"},"data":{"action":"\#(action)"}}}"#
    }

    @Test func `typing reaches the other participants and is never stored (5_7)`() async throws {
        let chat = try await SocketChat.make()
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
        let chat = try await SocketChat.make()
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        try await chat.post(
            "/conversations/\(chat.conversation)/typing", #"{"action":"started"}"#, by: chat.ana)
        let actions = try await bo.next(3).map { $0["body"]?["data"]?["action"]?.string }
        #expect(actions == ["started", "paused", "finished"])
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
    func `presence reaches subscribed followers, and ends a minute after the connection (5_8)`()
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

    @Test func `an event stream has the same signals without ids (ruling 42)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let stream = try LiveStream(
            chat.login.sample, target: "/events?session_token=\(chat.bo)")
        var last = ""
        while last != "ready" { last = try #require(try await stream.next(1).first).type }
        try await Task.sleep(for: .milliseconds(200))
        try await chat.post(
            "/conversations/\(chat.conversation)/typing", #"{"action":"started"}"#, by: chat.ana)
        let event = try #require(try await stream.next(1).first)
        #expect(event.type == "signal")
        #expect(event.cursor.isEmpty)
        let body = try JSONDocument(Array(event.data.utf8)).root
        #expect(body["data"]?["sender"]?["user_id"]?.string == "ana")
    }
}
