import HTTP
import HTTPTransport
import Testing

extension Live {
    @Suite struct `Changing protocols` {
        @Test func `101 has its fields, no length and no transfer coding (H130)`() async throws {
            let service = TestService { _ in
                var fields = ResponseFields()
                fields.add("Sec-WebSocket-Accept", "x")
                return Answer("up", Upgrade(to: "test", fields: fields, handler: shouting()))
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

        @Test func `bytes right behind the handshake are not lost, wherever it is cut (H131)`()
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

        @Test func `a protocol may be changed after some work (H129)`() async throws {
            let service = TestService { _ in
                Answer("up") { _ in Response(Upgrade(to: "test", handler: shouting())) }
            }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET /up HTTP/1.1") + "hello.")
                return try client.rest()
            }
            #expect(text.hasPrefix("HTTP/1.1 101 "))
            #expect(text.hasSuffix("\r\n\r\nHELLO."))
        }

        @Test func `a peer that ends its side ends the other protocol, answers first (H96)`()
            async throws
        {
            let text = try await serving(upgrading) { live in
                try live.exchange(.head("GET /up HTTP/1.1") + "hello")
            }
            #expect(text.hasSuffix("\r\n\r\nHELLO"))
        }

        @Test func `a closed channel does nothing, even if its descriptor is in use again (H85)`()
            async throws
        {
            let lines = Lines()
            let service = TestService { _ in
                Answer(
                    "up",
                    Upgrade(to: "test", handler: TestHandler(opened: { line in lines.add(line) })))
            }
            let strays = try await serving(service, with: { change in change.loops = 2 }) { live in
                var strays = 0
                for _ in 0..<200 {
                    let gone = try live.connect()
                    try gone.send(.head("GET /a HTTP/1.1"))
                    _ = try gone.answer()
                    gone.vanish()
                    // The lowest free number is given out next, on this side and on the server's.
                    let next = try live.connect()
                    lines.each { line in line.send(Array("stray".utf8)) }
                    try next.send(.head("GET /b HTTP/1.1"))
                    let reply = try next.answer()
                    strays += reply.status == 101 ? 0 : 1
                    lines.forget()
                    next.vanish()
                }
                return strays
            }
            #expect(strays == 0)
        }

        @Test func `HTTP 1.0 changes no protocol (H86)`() async throws {
            let text = try await serving(upgrading) { live in
                try live.exchange(.head("GET /up HTTP/1.0", "Upgrade: test"))
            }
            #expect(text.hasPrefix("HTTP/1.1 400 "))
        }
    }
}

/// Answers in capitals, and finishes at a full stop.
private func shouting() -> TestHandler {
    TestHandler(received: { line, bytes in
        line.send(Array(String(decoding: bytes, as: UTF8.self).uppercased().utf8))
        if bytes.last == UInt8(ascii: ".") { line.finish() }
    })
}

private let upgrading = TestService { _ in Answer("up", Upgrade(to: "test", handler: shouting())) }
