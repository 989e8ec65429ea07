import HTTP
import JSON
import Messaging
import SystemSupport
import TestSupport
import Testing
import WebSockets

@testable import PlatformAPI

@Suite struct `Hostile sockets` {
    private static let request = Array(
        #"{"type":"request","body":{"request_id":"n","method":"Counter.read"}}"#.utf8)

    @Test func `100,000 requests on one socket are answered in order (5_3)`() async throws {
        let server = try await TestServer.sockets { settings in
            settings.messagesPerSecond = 1_000_000
            settings.burst = 1_000_000
        }
        let chat = try await SocketChat.make(in: server)
        let client = try await chat.open(chat.bo)
        var (sent, answered) = (0, 0)
        let count = TestRounds.number(20_000, of: 100_000)
        while answered < count {
            // As many at a time as may wait on a socket.
            let batch = (0..<200).flatMap { number in
                WebSocketClient.frame(
                    1,
                    Array(
                        #"{"type":"request","body":{"request_id":"\#(sent + number)","method":"Counter.read"}}"#
                            .utf8))
            }
            try await client.socket.send(raw: batch)
            sent += 200
            while answered < sent {
                // Its counter is one above the last.
                let answer = try await client.next()
                #expect(answer["body"]?["request_id"]?.string == "\(answered)")
                #expect(answer["body"]?["success"]?.bool == true)
                #expect(
                    answer.packetData?["counter"]?.integer
                        == answer["counter"]?.integer.map { $0 - 1 })
                answered += 1
            }
        }
    }

    @Test func `a socket that does not slow down is disconnected (H145)`() async throws {
        let server = try await TestServer.sockets { settings in
            settings.maximumThrottledSeconds = 2
        }
        let chat = try await SocketChat.make(in: server)
        let client = try await chat.open(chat.bo)
        let others = try await chat.open(chat.ana)
        let frames = Array(
            repeatElement(WebSocketClient.frame(1, Self.request), count: 1000).joined())
        let flood = Task {
            // The server stops reading, so that this waits until the connection is closed.
            while true { try await client.socket.send(raw: frames) }
        }
        // No other socket waits for it.
        _ = try await others.request("Counter.read")
        await #expect(throws: (any Error).self) { try await flood.value }
        #expect(try await others.request("Counter.read").response["body"]?["success"]?.bool == true)
    }

    @Test func `sockets that never answer pings are closed, whether or not they read (H143)`()
        async throws
    {
        let server = try await TestServer.sockets { settings in
            settings.pingInterval = 1000
            // Longer than a loaded machine delays an answer.
            settings.idleTimeout = 10_000
            settings.closeTimeout = 500
        }
        let chat = try await SocketChat.make(in: server)
        let target = "/websocket?session_token=\(chat.bo)"
        let silent = try (0..<10).map { _ in
            try WebSocketClient(port: server.port, target: target, receiveBuffer: 4096)
        }
        #expect(silent.allSatisfy { socket in socket.status == 101 })
        // This one answers each ping.
        let alive = try await chat.open(chat.ana)
        let isClosed = try await Self.isTrue {
            server.service.api.openSockets == 1
        } repeating: {
            _ = try await alive.request("Counter.read")
        }
        #expect(isClosed)
        let message = try await chat.send("after all")
        while try await alive.next().objectID != message {}
        withExtendedLifetime(silent) {}
    }

    /// Whether a condition becomes true within a minute, while something is repeated.
    private static func isTrue(
        _ condition: () -> Bool, repeating body: () async throws -> Void
    ) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(60)
        while !condition() {
            guard .now < deadline else { return false }
            try await body()
            await pause(milliseconds: 100)
        }
        return true
    }

    @Test func `a message of more than 1 MiB in fragments closes with 1009 (H138)`() async throws {
        let chat = try await SocketChat.make()
        let client = try await chat.open(chat.bo)
        let piece = [UInt8](repeating: 0x61, count: 65_536)
        let frames = [UInt8(1), 0].map { opcode in
            let frame = WebSocketClient.frame(opcode, piece)
            // Not the last fragment.
            return [frame[0] & 0x7F] + frame.dropFirst()
        }
        try await client.socket.send(raw: frames[0])
        for _ in 0..<15 { try await client.socket.send(raw: frames[1]) }
        // Of the next fragment only the head: the server must not wait for more than it takes.
        try await client.socket.send(raw: Array(frames[1].prefix(14)))
        #expect(try await client.closeCode() == 1009)
        #expect(try await chat.open(chat.bo).sync().isEmpty)
    }

    @Test func `a frame of 10 MiB that was compressed to 10 KB closes with 1009 (H138, H150)`()
        async throws
    {
        let chat = try await SocketChat.make()
        let socket = try WebSocketClient(
            port: chat.login.sample.server.port, target: "/websocket?session_token=\(chat.bo)",
            fields: "Sec-WebSocket-Extensions: permessage-deflate\r\n")
        try #require(socket.head.lowercased().contains("permessage-deflate"))
        let message = [UInt8](repeating: 0x20, count: 10 << 20)
        let compressed = Deflater(window: 15, size: message.count).compress(message.span, .sync)
        // Without the final empty block (RFC 7692 §7.2.1).
        var frame = WebSocketClient.frame(1, compressed.dropLast(4))
        #expect(frame.count < 20_000)
        frame[0] |= 0x40
        try await socket.send(raw: frame)
        var last = try await socket.next()
        while let frame = last, frame.opcode != 8 { last = try await socket.next() }
        #expect(last?.closeCode == 1009)
    }

    @Test func `packets with links are not compressed, others are (H115, H150)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let socket = try WebSocketClient(
            port: chat.login.sample.server.port, target: "/websocket?session_token=\(chat.bo)",
            fields: "Sec-WebSocket-Extensions: permessage-deflate\r\n")
        #expect(socket.head.lowercased().contains("permessage-deflate"))
        // The socket has started when it answers.
        try await socket.send(1, Self.request)
        #expect(try await socket.next()?.isCompressed == false)
        let created = try await chat.login.send(
            "POST", "/content", session: chat.ana,
            fields: [("Upload-Content-Type", "text/plain"), ("Upload-Content-Length", "5")])
        let url = try #require(created.json?["upload_url"]?.string)
        let uploaded = try await chat.login.client.send(
            PlainRequest(
                method: "PUT", target: String(url.dropFirst(TestServer.base.count)), fields: [],
                body: "hello"))
        #expect(uploaded.status == 200)
        let text = String(repeating: "a", count: 2000)
        let parts = Array(
            repeating: #"{"mime_type":"text/plain","body":"\#(text)"}"#, count: 10)
        let id = try #require(created.createdID)
        let content =
            #"{"mime_type":"text/plain","content":{"id":"layer:///content/\#(id)","size":5}}"#
        for (parts, isCompressed) in [(parts, true), (parts + [content], false), (parts, true)] {
            try await chat.post(
                "/conversations/\(chat.conversation)/messages",
                #"{"parts":[\#(parts.joined(separator: ","))]}"#, by: chat.ana)
            let message = try #require(try await socket.next())
            #expect(message.isCompressed == isCompressed)
            #expect(isCompressed || message.text.contains("download_url"))
            // The update of the conversation is small.
            #expect(try await socket.next()?.isCompressed == false)
        }
    }
}
