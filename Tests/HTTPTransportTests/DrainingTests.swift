import Dispatch
import Glibc
import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Graceful shutdown` {
        @Test func `idle connections are closed, and no client is accepted any more (H194)`()
            async throws
        {
            let text = try await serving { live in
                let clients = try (0..<3).map { _ in try live.connect() }
                try clients[0].send(.head("GET /a HTTP/1.1"))
                _ = try clients[0].answer()
                let stop = live.beginDrain()
                let rest = try clients.map { client in try client.rest() }.joined()
                for client in clients { client.finishSending() }
                #expect(stop.isClean)
                #expect(throws: Client.Failure.self) { try live.connect() }
                return rest
            }
            #expect(text.isEmpty)
        }

        @Test func `a running request finishes, and its answer has Connection: close (H194)`()
            async throws
        {
            let (gate, began) = (Gate(), Counter())
            let service = TestService { _ in
                TestService.later("done") {
                    began.add(1)
                    await gate.pass()
                }
            }
            let reply = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET /a HTTP/1.1") + .head("GET /b HTTP/1.1"))
                while began.value == 0 { try live.settle() }
                let stop = live.beginDrain()
                stop.waitUntilDraining(live)
                gate.open()
                let reply = try client.answer()
                #expect(try client.rest().isEmpty)
                client.finishSending()
                #expect(stop.isClean)
                return reply
            }
            #expect(reply.text == "done")
            #expect(reply["Connection"] == "close")
        }

        @Test func `a request whose head had begun is served (H195)`() async throws {
            let reply = try await serving { live in
                let client = try live.connect()
                try client.send("GET /half HTTP/1.1\r\nHo")
                // The loop must have read it first: a connection without bytes is closed at once.
                while live.statistics()?.connections[.head] != 1 { usleep(1000) }
                let stop = live.beginDrain()
                stop.waitUntilDraining(live)
                try client.send("st: h\r\n\r\n")
                let reply = try client.answer()
                client.finishSending()
                #expect(stop.isClean)
                return reply
            }
            #expect(reply.text == "/half")
            #expect(reply["Connection"] == "close")
        }

        @Test func `a body that was being received is finished (H195)`() async throws {
            let reply = try await serving { live in
                let client = try live.connect()
                try client.send(.head("PUT /x HTTP/1.1", "Content-Length: 10") + "hello")
                try live.settle()
                let stop = live.beginDrain()
                stop.waitUntilDraining(live)
                try client.send("world")
                let reply = try client.answer()
                client.finishSending()
                #expect(stop.isClean)
                return reply
            }
            #expect(reply.text == "helloworld")
            #expect(reply["Connection"] == "close")
        }

        @Test func `connections in the backlog are accepted and answered (H194)`() async throws {
            // One loop, blocked on purpose by its handler, so that nothing is accepted meanwhile.
            let (blocked, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let service = TestService { request in
                guard request.target.path == "/block" else { return TestService.echo(request) }
                blocked.signal()
                free.wait()
                return TestService.echo(request)
            }
            let texts = try await serving(service) { live in
                let blocker = try live.connect()
                try blocker.send(.head("GET /block HTTP/1.1"))
                blocked.wait()
                let waiting = try (0..<5).map { _ in try live.connect() }
                for client in waiting { try client.send(.head("GET /backlog HTTP/1.1")) }
                let stop = live.beginDrain()
                free.signal()
                let texts = try waiting.map { client in try client.answer().text }
                for client in waiting + [blocker] { client.finishSending() }
                _ = try blocker.rest()
                #expect(stop.isClean)
                return texts
            }
            #expect(texts == [String](repeating: "/backlog", count: 5))
        }

        @Test func `a request that is not finished at the deadline is aborted (H194)`() async throws
        {
            let gate = Gate()
            let service = TestService { _ in TestService.later("late") { await gate.pass() } }
            try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET /a HTTP/1.1"))
                try live.settle()
                let stop = live.beginDrain(deadline: 100)
                #expect(!stop.isClean)
                #expect(throws: Client.Failure.reset) { try client.receive() }
                #expect(live.server.connectionCount == 0)
                // The handler returns on a loop that has stopped.
                gate.open()
            }
        }

        @Test func `handlers of streams and other protocols are asked to end (H147, H194)`()
            async throws
        {
            let service = TestService { request in
                let handler = TestHandler(stopping: { channel in
                    channel.send(Array("bye".utf8))
                    channel.finish()
                })
                return request.target.path == "/up"
                    ? Answer("up", Upgrade(to: "test", handler: handler))
                    : Answer("stream", Response(.ok, content: .stream(handler)))
            }
            let texts = try await serving(service) { live in
                let clients = try ["/up", "/stream"].map { path in
                    let client = try live.connect()
                    try client.send(.head("GET \(path) HTTP/1.1"))
                    _ = try client.answer()
                    return client
                }
                let stop = live.beginDrain()
                let texts = try clients.map { client in try client.rest() }
                for client in clients { client.finishSending() }
                #expect(stop.isClean)
                return texts
            }
            #expect(texts == ["bye", "3\r\nbye\r\n0\r\n\r\n"])
        }

        @Test func `a response that was being written is finished (H194)`() async throws {
            let gate = Gate()
            let service = TestService { _ in
                let content = Content.written { writer in
                    try await writer.write([0x61])
                    await gate.pass()
                    try await writer.write([0x62])
                }
                return Answer("", Response(.ok, content: content))
            }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                _ = try client.answer()
                let stop = live.beginDrain()
                stop.waitUntilDraining(live)
                gate.open()
                let text = try client.rest()
                client.finishSending()
                #expect(stop.isClean)
                return text
            }
            // Bytes that wait together are sent as one chunk.
            let encodings = ["1\r\na\r\n1\r\nb\r\n0\r\n\r\n", "2\r\nab\r\n0\r\n\r\n"]
            #expect(encodings.contains(text))
        }

        @Test func `a channel that does not end is aborted at the deadline (H194)`() async throws {
            let closed = Counter()
            let handler = TestHandler(stopping: { _ in }, closed: { closed.add(1) })
            let service = TestService { _ in Answer("up", Upgrade(to: "test", handler: handler)) }
            try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                _ = try client.answer()
                let stop = live.beginDrain(deadline: 100)
                #expect(!stop.isClean)
                #expect(throws: Client.Failure.reset) { try client.receive() }
            }
            #expect(closed.value == 1)
        }

        @Test func `stopping twice is the same as stopping once (H195)`() async throws {
            let server = try Server(
                {
                    var configuration = ServerConfiguration()
                    configuration.addresses = [.ipv4(0x7F00_0001, port: 0)]
                    return configuration
                }(), service: TestService())
            _ = try server.start()
            let first = await server.drain(deadline: 60_000)
            let second = await server.drain(deadline: 60_000)
            #expect(first && second)
        }
    }
}

/// A drain that runs beside the test.
private final class RunningDrain: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let clean = Counter()

    init(_ server: Server, deadline: Int64) {
        Task { [done, clean] in
            if await server.drain(deadline: deadline) { clean.add(1) }
            done.signal()
        }
    }

    /// Waits for the end. Whether all requests were finished.
    var isClean: Bool {
        done.wait()
        return clean.value == 1
    }

    /// Waits until no client is accepted any more and the connections are notified.
    func waitUntilDraining(_ live: LiveServer) {
        // A connection that was made while the listener closed may belong to no socket: the kernel
        // drops it and resets it only when the peer sends.
        while let probe = try? live.connect() {
            probe.setTimeout(milliseconds: 100)
            _ = try? probe.rest()
        }
    }
}

extension LiveServer {
    fileprivate func beginDrain(deadline: Int64 = 60_000) -> RunningDrain {
        RunningDrain(server, deadline: deadline)
    }
}
