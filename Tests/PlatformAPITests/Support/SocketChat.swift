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
        in server: TestServer? = nil, receiveBuffer: Int32? = nil
    ) throws {
        socket = try WebSocketClient(
            port: (server ?? login.sample.server).port,
            target: "/websocket?session_token=\(session)",
            protocols: "layer-\(version)", receiveBuffer: receiveBuffer)
        try #require(socket.status == 101, "\(socket.head)")
    }

    /// The next packet; its counter is one above the last.
    func next() async throws -> JSONValue {
        let frame = try #require(try await socket.next())
        try #require(frame.opcode == 1, "\(frame.closeCode ?? 0)")
        return try packet(in: frame)
    }

    private func packet(in frame: WebSocketClient.Frame) throws -> JSONValue {
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

    /// Reads the packets until the server closes the socket, and returns the code of its close frame.
    func closeCode(_ receive: (JSONValue) -> Void = { _ in }) async throws -> Int? {
        while let frame = try await socket.next() {
            if frame.opcode == 8 { return frame.closeCode }
            receive(try packet(in: frame))
        }
        return nil
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
    var what: String {
        let body = self["body"]
        switch self["type"]?.string {
        case "change":
            return
                "\(body?["operation"]?.string ?? "") \(body?["object"]?["type"]?.string ?? "")"
        case "operation": return body?["method"]?.string ?? ""
        case let type: return type ?? ""
        }
    }

    /// The UUID of the object of a change packet; empty for other packets.
    var objectID: String {
        self["body"]?["object"]?["id"]?.string.map { id in String(id.suffix(36)) } ?? ""
    }

    var packetData: JSONValue? { self["body"]?["data"] }

    var list: [JSONValue] { elements.map { element in element } }
}

extension PlainAnswer {
    /// The UUID of the object in the answer.
    var createdID: String? {
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

    /// The same chat, whose requests go to another server on its database.
    func through(_ server: TestServer) -> SocketChat {
        let other = LoginFixture(
            sample: login.sample, client: SocketClient(port: server.port),
            provider: login.provider, key: login.key, signer: login.signer)
        return SocketChat(login: other, ana: ana, bo: bo, conversation: conversation)
    }

    @discardableResult
    func send(_ text: String = "hello", by session: String? = nil) async throws -> String {
        let sent = try await login.send(
            "POST", "/conversations/\(conversation)/messages",
            #"{"parts":[{"mime_type":"text/plain","body":"\#(text)"}]}"#, session: session ?? ana)
        #expect(sent.status == 201, "\(sent.body)")
        return try #require(sent.createdID)
    }

    /// Sends a message of 200 KB.
    func sendLarge() async throws -> String {
        let text = String(repeating: "a", count: 2000)
        let parts = repeatElement(#"{"mime_type":"text/plain","body":"\#(text)"}"#, count: 100)
        let sent = try await login.send(
            "POST", "/conversations/\(conversation)/messages",
            #"{"parts":[\#(parts.joined(separator: ","))]}"#, session: ana)
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
