import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Upgrades to other protocols` {
        @Test func `101 has the handler's fields, no length and no transfer coding (H130)`()
            async throws
        {
            let service = TestService { _ in
                var fields = ResponseFields()
                fields.add("Sec-WebSocket-Accept", "x")
                return Answer("up", Upgrade(to: "test", fields: fields, handler: uppercasing()))
            }
            let reply = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET /up HTTP/1.1", "Connection: upgrade", "Upgrade: test"))
                return try client.answer()
            }
            #expect(reply.head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
            #expect(reply["Upgrade"] == "test")
            #expect(reply["Connection"] == "Upgrade")
            #expect(reply["Sec-WebSocket-Accept"] == "x")
            #expect(reply["Content-Length"] == nil)
            #expect(reply["Transfer-Encoding"] == nil)
        }

        @Test func `bytes right after the handshake are not lost, wherever it is split (H131)`()
            async throws
        {
            let request = Array((String.head("GET /up HTTP/1.1") + "hello.").utf8)
            let texts = try await serving(upgrading) { live in
                try (1..<request.count).map { cut in
                    let client = try live.connect()
                    try client.send(Array(request[..<cut]))
                    try live.settle()
                    try client.send(Array(request[cut...]))
                    _ = try client.answer()
                    return try client.rest()
                }
            }
            #expect(Set(texts) == ["HELLO."])
        }

        @Test(arguments: ["Content-Length: 1", "Transfer-Encoding: chunked"])
        func `a handshake that announces a body is refused (H131)`(field: String) async throws {
            let text = try await serving(upgrading) { live in
                try live.exchange(.head("GET /up HTTP/1.1", field) + "x")
            }
            #expect(text.hasPrefix("HTTP/1.1 400 "))
            #expect(text.contains("Connection: close\r\n"))
        }

        @Test func `an asynchronous handler can upgrade (H129)`() async throws {
            let service = TestService { _ in
                Answer("up") { _ in Response(Upgrade(to: "test", handler: uppercasing())) }
            }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET /up HTTP/1.1") + "hello.")
                return try client.rest()
            }
            #expect(text.hasPrefix("HTTP/1.1 101 "))
            #expect(text.hasSuffix("\r\n\r\nHELLO."))
        }

        @Test func `what was received before the peer's end is answered first (H96)`()
            async throws
        {
            let text = try await serving(upgrading) { live in
                try live.exchange(.head("GET /up HTTP/1.1") + "hello")
            }
            #expect(text.hasSuffix("\r\n\r\nHELLO"))
        }

        @Test func `a closed channel sends nothing, even if its descriptor is reused (H85)`()
            async throws
        {
            let channels = TestChannels()
            let service = TestService { _ in
                Answer(
                    "up",
                    Upgrade(
                        to: "test",
                        handler: TestHandler(opened: { channel in channels.add(channel) })))
            }
            let strayCount = try await serving(service, with: { change in change.loops = 2 }) {
                live in
                var strayCount = 0
                for _ in 0..<200 {
                    let gone = try live.connect()
                    try gone.send(.head("GET /a HTTP/1.1"))
                    _ = try gone.answer()
                    gone.reset()
                    // The kernel reuses the lowest free descriptor, on both sides.
                    let next = try live.connect()
                    channels.each { channel in channel.send(Array("stray".utf8)) }
                    try next.send(.head("GET /b HTTP/1.1"))
                    let reply = try next.answer()
                    strayCount += reply.status == 101 ? 0 : 1
                    channels.forget()
                    next.reset()
                }
                return strayCount
            }
            #expect(strayCount == 0)
        }

        @Test func `HTTP/1.0 cannot upgrade (H86)`() async throws {
            let text = try await serving(upgrading) { live in
                try live.exchange(.head("GET /up HTTP/1.0", "Upgrade: test"))
            }
            #expect(text.hasPrefix("HTTP/1.1 400 "))
        }
    }
}

/// Answers in upper case, and finishes at a full stop.
private func uppercasing() -> TestHandler {
    TestHandler(received: { channel, bytes in
        channel.send(Array(String(decoding: bytes, as: UTF8.self).uppercased().utf8))
        if bytes.last == UInt8(ascii: ".") { channel.finish() }
    })
}

private let upgrading = TestService { _ in Answer("up", Upgrade(to: "test", handler: uppercasing()))
}
