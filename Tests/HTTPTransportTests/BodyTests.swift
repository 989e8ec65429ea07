import HTTP
import HTTPTransport
import SystemSupport
import Testing

extension LiveServerTests {
    @Suite struct `Bodies over a socket` {
        /// Reads a body of any size in pieces, and answers with its ``text(of:)``.
        private static func large(_ before: @escaping @Sendable () async -> Void) -> TestService {
            TestService { _ in
                Answer("", BodyPolicy(limit: 1 << 40)) { body in
                    await before()
                    var all: [UInt8] = []
                    var buffer = BodyBuffer(capacity: 100_000)
                    while (try? await body.read(into: &buffer)) != nil, buffer.count > 0 {
                        all += buffer.bytes
                    }
                    return Response(.ok, "text/plain", Array(text(of: all).utf8))
                }
            }
        }

        /// The length and a sum over every 97th byte.
        private static func text(of bytes: [UInt8]) -> String {
            let sum = stride(from: 0, to: bytes.count, by: 97).reduce(UInt64(0)) { sum, index in
                sum &* 31 &+ UInt64(bytes[index])
            }
            return "\(bytes.count) \(sum)"
        }

        @Test func `a handler that does not read makes the peer wait, and loses nothing (H185)`()
            async throws
        {
            let gate = Gate()
            let body = (0..<(24 << 20)).map { number in UInt8(truncatingIfNeeded: number &* 7 >> 3)
            }
            let (held, text) = try await serving(Self.large { await gate.pass() }) { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: \(body.count)"))
                let sent = client.sendUntilBlocked(body)
                gate.open()
                try client.send(Array(body[sent...]))
                return (sent, try client.answer().text)
            }
            #expect(held < body.count)
            #expect(text == Self.text(of: body))
        }

        @Test func `chunks of every size arrive whole (H46)`() async throws {
            let sizes = (0..<300).map { number in number * number % 9001 + 1 }
            let pieces = sizes.map { size in
                (0..<size).map { number in UInt8(truncatingIfNeeded: number) }
            }
            let message =
                pieces.flatMap { piece in
                    Array("\(String(piece.count, radix: 16));e=\"x\"\r\n".utf8) + piece + [13, 10]
                } + Array("0\r\nTrailer: t\r\n\r\n".utf8)
            let replies = try await serving(Self.large {}) { live in
                let client = try live.connect()
                return try (0..<2).map { _ in
                    try client.send(.head("PUT / HTTP/1.1", "Transfer-Encoding: chunked"))
                    try client.send(message)
                    return try client.answer().text
                }
            }
            let expected = Self.text(of: pieces.flatMap { piece in piece })
            #expect(replies == [expected, expected])
        }

        @Test func `while an answer is pending, little is read ahead (H81)`() async throws {
            let gate = Gate()
            let service = TestService { request in
                request.target.path == "/wait"
                    ? TestService.later("go") { await gate.pass() } : TestService.echo(request)
            }
            let requests = Array(String(repeating: .head("GET /n HTTP/1.1"), count: 700_000).utf8)
            let held = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET /wait HTTP/1.1"))
                return client.sendUntilBlocked(requests)
            }
            #expect(held < requests.count)
        }

        @Test func `a chunk that is malformed ends the body and the connection (H46, H48)`()
            async throws
        {
            let text = try await serving { live in
                let client = try live.connect()
                try client.send(
                    .head("PUT / HTTP/1.1", "Transfer-Encoding: chunked") + "5\r\nhello\r\n+5\r\n"
                        + .head("GET /smuggled HTTP/1.1"))
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["400"])
            #expect(!text.contains("smuggled"))
        }

        @Test func `chunks over the limit are refused while they arrive (H49)`() async throws {
            let text = try await serving(with: { limits in limits.lingerTimeout = 60_000 }) {
                live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Transfer-Encoding: chunked"))
                let chunk =
                    Array("10000\r\n".utf8) + [UInt8](repeating: 1, count: 0x10000) + [13, 10]
                for _ in 0..<17 { try client.send(chunk) }
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["413"])
        }

        @Test func `a short unread body is discarded and the connection stays open (H92)`()
            async throws
        {
            let service = TestService { request in
                request.method == .put
                    ? Answer("", Response(.forbidden)) : TestService.echo(request)
            }
            let body = String(repeating: "GET /smuggled HTTP/1.1\r\n\r\n", count: 10_000)
            let replies = try await serving(
                service, with: { limits in limits.drainTimeout = 60_000 }
            ) { live in
                let client = try live.connect()
                try client.send(
                    .head("PUT / HTTP/1.1", "Content-Length: \(body.utf8.count)") + body)
                try client.send(.head("GET /next HTTP/1.1"))
                return [try client.answer(), try client.answer()]
            }
            #expect(replies.map(\.status) == [403, 200])
            #expect(replies[0]["Connection"] == nil)
            #expect(replies[1].text == "/next")
        }

        @Test func `the half of a body that a handler does not read is discarded (H92)`()
            async throws
        {
            let service = TestService { request in
                guard request.method == .put else { return TestService.echo(request) }
                return Answer("") { body in
                    var buffer = BodyBuffer(capacity: 10)
                    try? await body.read(into: &buffer)
                    return Response(.ok, "text/plain", Array(buffer.bytes))
                }
            }
            let texts = try await serving(
                service, with: { limits in limits.drainTimeout = 60_000 }
            ) { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: 5000"))
                try client.send(
                    String(repeating: "0123456789", count: 500) + .head("GET /next HTTP/1.1"))
                return [try client.answer().text, try client.answer().text]
            }
            #expect(texts == ["0123456789", "/next"])
        }

        @Test(arguments: ["Content-Length: 262145", "Transfer-Encoding: chunked"])
        func `a long unread body ends the connection (H92)`(framing: String) async throws {
            let service = TestService { _ in Answer("", Response(.forbidden)) }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", framing) + "4\r\nsome")
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["403"])
            #expect(text.contains("Connection: close\r\n"))
        }

        @Test func `a peer that is still sending a megabyte can read its 413 (H96)`() async throws {
            let text = try await serving(with: { limits in limits.lingerTimeout = 60_000 }) {
                live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: 99999999"))
                try client.send([UInt8](repeating: 1, count: 1_000_000))
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["413"])
            #expect(text.contains("Connection: close\r\n"))
        }

        @Test func `a client that never stops sending is disconnected (H96)`() async throws {
            await #expect(throws: Client.Failure.reset) {
                try await serving { live in
                    let client = try live.connect()
                    try client.send(.head("PUT / HTTP/1.1", "Content-Length: 99999999"))
                    try client.send([UInt8](repeating: 1, count: 64 << 20))
                }
            }
        }

        @Test func `a client that never closes its connection is disconnected after a while (H96)`()
            async throws
        {
            let count = try await serving(with: { limits in limits.lingerTimeout = 100 }) { live in
                let client = try live.connect()
                try client.send("bad\r\n")
                _ = try client.rest()
                while live.server.connectionCount > 0 { try live.settle() }
                return live.server.connectionCount
            }
            #expect(count == 0)
        }

        @Test func `an interrupted reader is notified, and the connection ends (H85)`()
            async throws
        {
            let service = TestService { _ in
                Answer("") { body in
                    Task.detached { body.interrupt() }
                    return await TestService.collected(body)
                }
            }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: 10") + "some")
                return try client.rest()
            }
            #expect(text.isEmpty)
        }

        /// What a handler's reads returned, and how the body ended.
        private struct Outcome: Sendable {
            var pieces: [String] = []
            var error: BodyError?
        }

        /// Reads with a coalescing time so long that no test waits for it.
        private func reading(
            _ outcome: Locked<Outcome>,
            _ before: @escaping @Sendable (any RequestBody) async -> Void
        ) -> TestService {
            TestService { _ in
                Answer("", BodyPolicy(limit: 100, coalescingMilliseconds: 600_000)) { body in
                    await before(body)
                    var buffer = BodyBuffer(capacity: 100)
                    do throws(BodyError) {
                        repeat {
                            try await body.read(into: &buffer)
                            let piece = String(decoding: buffer.bytes, as: UTF8.self)
                            outcome.withLock { $0.pieces.append(piece) }
                        } while buffer.count > 0
                    } catch {
                        outcome.withLock { $0.error = error }
                    }
                    return Response(.ok, "text/plain", Array("read".utf8))
                }
            }
        }

        @Test func `an interrupted reader gets the bytes that the socket has received`()
            async throws
        {
            let (outcome, gate) = (Locked(Outcome()), Gate())
            let service = reading(outcome) { body in
                await gate.pass()
                body.interrupt()
            }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: 10") + "so")
                try client.send("me")
                gate.open()
                return try client.answer().text
            }
            #expect(text == "read")
            #expect(outcome.withLock { $0.pieces } == ["some"])
            #expect(outcome.withLock { $0.error } == .superseded)
        }

        @Test(arguments: [
            "Content-Length: 10\r\n\r\nsome", "Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n",
        ])
        func `an interruption returns what a pending read has received`(body: String)
            async throws
        {
            let outcome = Locked(Outcome())
            let service = reading(outcome) { body in
                Task.detached {
                    while await body.completePendingRead() < 4 { await Task.yield() }
                    body.interrupt()
                }
            }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send("PUT / HTTP/1.1\r\nHost: h\r\n" + body)
                return try client.answer().text
            }
            #expect(text == "read")
            #expect(outcome.withLock { $0.pieces.joined() } == "some")
            #expect(outcome.withLock { $0.error } == .superseded)
        }

        @Test func `a body that was received whole ends cleanly when it is interrupted`()
            async throws
        {
            let (outcome, gate) = (Locked(Outcome()), Gate())
            let service = reading(outcome) { body in
                await gate.pass()
                body.interrupt()
            }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: 10"))
                try client.send("some bytes")
                gate.open()
                return try client.answer().text
            }
            #expect(text == "read")
            #expect(outcome.withLock { $0.pieces } == ["some bytes", ""])
            #expect(outcome.withLock { $0.error } == nil)
        }

        @Test func `a pending read can be completed early, and the body continues`() async throws {
            let (outcome, handed) = (Locked(Outcome()), Counter())
            let service = reading(outcome) { body in
                Task.detached {
                    while await body.completePendingRead() < 4 { await Task.yield() }
                    handed.add(1)
                }
            }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: 10"))
                try client.send("some")
                while handed.value == 0 { try live.settle() }
                try client.send(" bytes")
                return try client.answer().text
            }
            #expect(text == "read")
            #expect(outcome.withLock { $0.pieces } == ["some", " bytes", ""])
            #expect(outcome.withLock { $0.error } == nil)
        }

        @Test func `reading after the end returns nothing, repeatedly`() async throws {
            let service = TestService { _ in
                Answer("") { body in
                    var buffer = BodyBuffer(capacity: 100)
                    var counts: [Int] = []
                    for _ in 0..<4 {
                        try? await body.read(into: &buffer)
                        counts.append(buffer.count)
                    }
                    return Response(.ok, "text/plain", Array("\(counts)".utf8))
                }
            }
            let texts = try await serving(service) { live in
                let client = try live.connect()
                return try ["Content-Length: 5\r\n\r\nhello", "X: y\r\n\r\n"].map { rest in
                    try client.send("PUT / HTTP/1.1\r\nHost: h\r\n" + rest)
                    return try client.answer().text
                }
            }
            #expect(texts == ["[5, 0, 0, 0]", "[0, 0, 0, 0]"])
        }

        @Test func `a reader that outlives its request gets an error, not the next body`()
            async throws
        {
            let outcome = Counter()
            let service = TestService { request in
                guard request.target.path == "/leak" else { return TestService.echo(request) }
                return Answer("") { body in
                    Task.detached {
                        var buffer = BodyBuffer(capacity: 100)
                        do { try await body.read(into: &buffer) } catch { outcome.add(1) }
                    }
                    return Response(.ok)
                }
            }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("PUT /leak HTTP/1.1", "Content-Length: 4"))
                _ = try client.answer()
                try client.send("some" + .head("PUT /next HTTP/1.1", "Content-Length: 4") + "next")
                let text = try client.answer().text
                while outcome.value == 0 { try live.settle() }
                return text
            }
            #expect(text == "next")
        }

        @Test func `a handler is cancelled when its peer disconnects (H85)`() async throws {
            let (began, cancelled) = (Counter(), Counter())
            let gate = Gate()
            let service = TestService { _ in
                Answer("") { body in
                    await withTaskCancellationHandler {
                        began.add(1)
                        await gate.pass()
                    } onCancel: {
                        cancelled.add(1)
                        gate.open()
                    }
                    return Response(.ok, "text/plain", Array("never received".utf8))
                }
            }
            try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                while began.value == 0 { try live.settle() }
                client.reset()
                while cancelled.value == 0 || live.server.connectionCount > 0 { try live.settle() }
            }
            #expect(cancelled.value == 1)
        }
    }
}
