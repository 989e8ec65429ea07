import HTTP
import HTTPTransport
import TestSupport
import Testing

extension LiveServerTests {
    @Suite struct `Content of unknown length` {
        @Test func `HTTP 1.1 gets chunks, byte by byte (H88, H116)`() async throws {
            let text = try await serving(counting) { live in
                try live.exchange(.head("GET /stream HTTP/1.1"))
            }
            let parts = text.split(separator: "\r\n\r\n", maxSplits: 1)
            #expect(parts[0].contains("\r\nTransfer-Encoding: chunked"))
            #expect(!parts[0].contains("Content-Length"))
            // Bytes sent in one turn are one chunk; its length is hexadecimal.
            #expect(parts[1] == "3\r\none\r\nb\r\ntwo & three\r\n0\r\n\r\n")
        }

        @Test func `the next request is served behind the last chunk (H82, H88)`() async throws {
            let text = try await serving(counting) { live in
                try live.exchange(
                    .head("GET /stream HTTP/1.1") + .head("GET /stream HTTP/1.1")
                        + .head("GET /next HTTP/1.1"))
            }
            #expect(text.ranges(of: "two & three\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n").count == 2)
            #expect(text.hasSuffix("\r\n\r\n/next"))
        }

        @Test func `HTTP 1.0 gets the bare bytes, then the end (H90)`() async throws {
            let text = try await serving(counting) { live in
                try live.exchange(.head("GET /stream HTTP/1.0", "Connection: keep-alive"))
            }
            #expect(text.contains("\r\nConnection: close\r\n"))
            #expect(!text.contains("Transfer-Encoding"))
            #expect(text.hasSuffix("\r\n\r\nonetwo & three"))
        }

        @Test func `HEAD waits for no stream, and its handler sees only the end (H68, H89)`()
            async throws
        {
            let closed = Counter()
            let service = TestService { request in
                guard request.target.path == "/stream" else { return TestService.echo(request) }
                let handler = TestHandler(
                    opened: { _ in closed.add(100) }, closed: { closed.add(1) })
                return Answer("stream", Response(.ok, content: .stream(handler)))
            }
            let text = try await serving(service) { live in
                try live.exchange(.head("HEAD /stream HTTP/1.1") + .head("GET /next HTTP/1.1"))
            }
            #expect(text.hasSuffix("\r\n\r\n/next"))
            #expect(!text.contains("Transfer-Encoding"))
            #expect(closed.value == 1)
        }

        @Test
        func `the head and the first bytes are sent together (H87, H151)`()
            async throws
        {
            let service = streaming(TestHandler(opened: { channel in channel.send([0x3A, 0x0A]) }))
            let first = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                return String(decoding: try client.receive(), as: UTF8.self)
            }
            #expect(first.hasSuffix("\r\n\r\n2\r\n:\n\r\n"))
        }

        @Test func `an aborted stream has no last chunk (H88)`() async throws {
            let service = TestService { _ in
                let content = Content.written { writer in
                    try await writer.write(Array("half".utf8))
                    throw CancellationError()
                }
                return Answer("", Response(.ok, content: content))
            }
            let (text, end) = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                var text = ""
                do {
                    while true {
                        let piece = try client.receive()
                        if piece.isEmpty { return (text, "end") }
                        text += String(decoding: piece, as: UTF8.self)
                    }
                } catch { return (text, "\(error)") }
            }
            #expect(!text.hasSuffix("0\r\n\r\n"))
            #expect(end == "reset")
        }

        @Test func `a stream of known length states it and is not chunked (H88)`() async throws {
            let service = stating(7, writing: ["whole", "it"])
            let text = try await serving(service) { live in
                try live.exchange(.head("GET / HTTP/1.1") + .head("HEAD / HTTP/1.0"))
            }
            #expect(text.ranges(of: "\r\nContent-Length: 7\r\n").count == 2)
            #expect(!text.contains("Transfer-Encoding"))
            #expect(text.contains("\r\n\r\nwholeitHTTP/1.1 200 OK\r\n"))
        }

        @Test(arguments: [["half"], ["more than it", "said"]])
        func `a stream that writes another number of bytes is aborted (H88)`(pieces: [String])
            async throws
        {
            let end = try await serving(stating(7, writing: pieces)) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                do {
                    while try !client.receive().isEmpty {}
                    return "end"
                } catch { return "\(error)" }
            }
            #expect(end == "reset")
        }

        private func stating(_ length: Int64, writing pieces: [String]) -> TestService {
            TestService { _ in
                let content = Content.written(length: length) { writer in
                    for piece in pieces { try await writer.write(Array(piece.utf8)) }
                }
                return Answer("", Response(.ok, content: content))
            }
        }

        @Test func `an unread body is discarded while the stream lasts (H92)`() async throws {
            let body = String(repeating: "x", count: 200_000)
            let text = try await serving(
                counting, with: { limits in limits.drainTimeout = 60_000 }
            ) { live in
                let client = try live.connect()
                try client.send(.head("POST /stream HTTP/1.1", "Content-Length: 200000"))
                try client.send(body + .head("GET /next HTTP/1.1"))
                client.finishSending()
                return try client.rest()
            }
            #expect(text.contains("two & three\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(text.hasSuffix("\r\n\r\n/next"))
        }

        @Test func `two hundred concurrent streams arrive whole`() async throws {
            let service = TestService { _ in
                let handler = TestHandler(
                    opened: { channel in channel.setDeadline(channel.milliseconds + 50) },
                    deadline: { channel in
                        channel.send(patternBytes(50_000))
                        channel.finish()
                    })
                return Answer("", Response(.ok, content: .stream(handler)))
            }
            let texts = try await serving(service, with: { change in change.loops = 2 }) { live in
                let clients = try (0..<200).map { _ in try live.connect() }
                for client in clients {
                    try client.send(.head("GET / HTTP/1.0"))
                    client.finishSending()
                }
                return try clients.map { client in try client.content() }
            }
            #expect(texts.allSatisfy { content in content == patternBytes(50_000) })
        }

        @Test func `a peer that disconnects frees its stream (H85, H156)`() async throws {
            let closed = Counter()
            let service = TestService { _ in
                let handler = TestHandler(
                    opened: { channel in channel.setDeadline(channel.milliseconds + 10) },
                    deadline: { channel in
                        channel.send(Array(":\n".utf8))
                        channel.setDeadline(channel.milliseconds + 10)
                    },
                    closed: { closed.add(1) })
                return Answer("", Response(.ok, content: .stream(handler)))
            }
            try await serving(service) { live in
                for number in 0..<20 {
                    let client = try live.connect()
                    try client.send(.head("GET / HTTP/1.1"))
                    _ = try client.receive()
                    // Half of them with a reset; the next heartbeat detects the others.
                    if number % 2 == 0 { client.reset() }
                }
                try eventually { live.server.connectionCount == 0 && closed.value == 20 }
            }
        }

        @Test func `an upgrade and a stream outlive the time limits of requests (H157)`()
            async throws
        {
            let service = streaming(
                TestHandler(
                    opened: { channel in channel.setDeadline(channel.milliseconds + 1500) },
                    deadline: { channel in
                        channel.send(Array("late".utf8))
                        channel.finish()
                    }))
            let text = try await serving(
                service,
                with: { change in
                    change.requestTimeout = 200
                    change.keepAliveTimeout = 200
                    change.headerTimeout = 200
                    change.writeIdleTimeout = 200
                }
            ) { live in
                let client = try live.connect(sending: .head("GET / HTTP/1.1"), within: 200)
                client.finishSending()
                return try client.rest()
            }
            #expect(text.hasSuffix("4\r\nlate\r\n0\r\n\r\n"))
        }
    }
}

/// `/stream` sends one word at once and three more later; other paths echo.
private let counting = TestService { request in
    guard request.target.path == "/stream" else { return TestService.echo(request) }
    let handler = TestHandler(
        opened: { channel in
            channel.send(Array("one".utf8))
            channel.setDeadline(channel.milliseconds + 1)
        },
        deadline: { channel in
            channel.send(Array("two".utf8))
            channel.send(Array(" & ".utf8))
            channel.send(Array("three".utf8))
            channel.finish()
        })
    return Answer("stream", Response(.ok, content: .stream(handler)))
}

private func streaming(_ handler: TestHandler) -> TestService {
    TestService { _ in Answer("", Response(.ok, content: .stream(handler))) }
}
