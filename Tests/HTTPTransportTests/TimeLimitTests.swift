import Glibc
import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Time limits` {
        @Test func `a head that does not arrive in time is refused (H174)`() async throws {
            let text = try await serving(with: { limits in limits.headerTimeout = 100 }) { live in
                try live.connect(sending: "GET / HTTP/1.1\r\nHo", within: 100).rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["408"])
            #expect(text.contains("Connection: close\r\n"))
        }

        @Test func `single bytes do not extend the time for a head, on any request (H174)`()
            async throws
        {
            let text = try await serving(with: { limits in limits.headerTimeout = 200 }) { live in
                let client = try live.connect(sending: .head("GET /a HTTP/1.1"), within: 200)
                _ = try client.answer()
                client.setTimeout(milliseconds: 20)
                for byte in "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 500))".utf8 {
                    try client.send([byte])
                    // Waiting for the answer is the only pause.
                    guard let piece = try? client.receive() else { continue }
                    return String(decoding: piece, as: UTF8.self)
                }
                return ""
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["408"])
        }

        @Test func `a silent connection is closed without an answer (H174)`() async throws {
            let text = try await serving(with: { limits in limits.headerTimeout = 100 }) { live in
                try live.connect().rest()
            }
            #expect(text.isEmpty)
        }

        @Test func `an idle connection is closed without an answer (H84)`() async throws {
            let text = try await serving(with: { limits in limits.keepAliveTimeout = 100 }) {
                live in
                let client = try live.connect()
                try client.send(.head("GET /a HTTP/1.1"))
                _ = try client.answer()
                return try client.rest()
            }
            #expect(text.isEmpty)
        }

        @Test func `each answer restarts the idle time (H84)`() async throws {
            let statuses = try await serving(with: { limits in limits.keepAliveTimeout = 1000 }) {
                live -> [Int] in
                while true {
                    if let statuses = try Self.statusesAfterPauses(live) { return statuses }
                }
            }
            #expect(statuses == [200, 200, 200])
        }

        /// The statuses of three requests on one connection, after pauses that are shorter than the idle time of
        /// a second and together longer; `nil` if this process was stalled, so that a pause was longer.
        private static func statusesAfterPauses(_ live: LiveServer) throws -> [Int]? {
            let client = try live.connect()
            var statuses: [Int] = []
            var previous = ContinuousClock.now
            for number in 0..<3 {
                if number > 0 { usleep(600_000) }
                let start = ContinuousClock.now
                let sent = Result { try client.send(.head("GET /a HTTP/1.1")) }
                let passed = ContinuousClock.now - previous
                guard number == 0 || passed < .milliseconds(990) else { return nil }
                try sent.get()
                statuses.append(try client.answer().status)
                previous = start
            }
            return statuses
        }

        @Test(arguments: ["Content-Length: 9", "Transfer-Encoding: chunked"])
        func `a body that pauses too long is stalled (H175)`(framing: String) async throws {
            let text = try await serving(with: { limits in limits.bodyIdleTimeout = 100 }) { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", framing) + "5\r\nhel")
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["408"])
            #expect(text.contains("Connection: close\r\n"))
        }

        @Test func `a body that arrives too slowly is stalled, though it never pauses (H175)`()
            async throws
        {
            let text = try await serving(
                with: { limits in
                    limits.bodyGrace = 200
                    limits.minimumBodyRate = 1000
                },
                { live in
                    let client = try live.connect()
                    try client.send(.head("PUT / HTTP/1.1", "Content-Length: 100000"))
                    return try client.sendSlowly(milliseconds: 20)
                })
            #expect(text.components(of: "HTTP/1.1 ") == ["408"])
        }

        @Test func `a request has a time limit, however steadily its body arrives (H176)`()
            async throws
        {
            let text = try await serving(
                with: { limits in
                    limits.requestTimeout = 250
                    limits.minimumBodyRate = 1
                },
                { live in
                    let client = try live.connect()
                    try client.send(.head("PUT / HTTP/1.1", "Content-Length: 100000"))
                    return try client.sendSlowly(milliseconds: 20)
                })
            #expect(text.components(of: "HTTP/1.1 ") == ["408"])
        }

        @Test func `a route can have its own lowest rate and no time limit (H175, H176)`()
            async throws
        {
            let service = TestService { _ in
                Answer(
                    "",
                    BodyPolicy(
                        limit: 9, idleMilliseconds: 300_000, minimumRate: 0, isTimed: false)
                ) { body in
                    await TestService.collected(body)
                }
            }
            let reply = try await serving(
                service,
                with: { limits in
                    limits.requestTimeout = 100
                    limits.bodyIdleTimeout = 100
                },
                { live in
                    let client = try live.connect()
                    try client.send(.head("PUT / HTTP/1.1", "Content-Length: 5") + "hel")
                    client.setTimeout(milliseconds: 400)
                    #expect(throws: Client.Failure.timedOut) { try client.receive() }
                    try client.send("lo")
                    client.restoreTimeout()
                    return try client.answer()
                })
            #expect(reply.text == "hello")
        }

        @Test func `a read returns after its coalescing time, though more bytes are due (H185)`()
            async throws
        {
            let service = TestService { _ in
                Answer("", BodyPolicy(limit: 1 << 20, coalescingMilliseconds: 50)) { body in
                    var buffer = BodyBuffer(capacity: 1000)
                    try? await body.read(into: &buffer)
                    return Response(.ok, "text/plain", Array(buffer.bytes), ending: .close)
                }
            }
            let reply = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: 500") + "some")
                return try client.answer()
            }
            #expect(reply.text == "some")
        }

        @Test func `time that a handler takes does not count against the peer (H175)`() async throws
        {
            var reply: Reply?
            while reply == nil { reply = try await Self.replyAfterSlowHandler() }
            #expect(reply?.text == "world")
        }

        /// The answer to a body whose first half a handler has held for longer than the idle time of a second;
        /// `nil` if this process was stalled, so that the second half was late.
        private static func replyAfterSlowHandler() async throws -> Reply? {
            let gate = Gate()
            let service = TestService { _ in
                Answer("") { body in
                    var buffer = BodyBuffer(capacity: 5)
                    try? await body.read(into: &buffer)
                    await gate.pass()
                    return await TestService.collected(body)
                }
            }
            return try await serving(service, with: { limits in limits.bodyIdleTimeout = 1000 }) {
                live -> Reply? in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: 10") + "hello")
                client.setTimeout(milliseconds: 1200)
                #expect(throws: Client.Failure.timedOut) { try client.receive() }
                client.restoreTimeout()
                let start = ContinuousClock.now
                gate.open()
                try live.settle()
                let sent = Result { try client.send("world") }
                guard ContinuousClock.now - start < .milliseconds(990) else { return nil }
                try sent.get()
                return try client.answer()
            }
        }

        @Test func `a handler can outlive every deadline of its connection (H177)`() async throws {
            let gate = Gate()
            let service = TestService { _ in TestService.later("late") { await gate.pass() } }
            let reply = try await serving(
                service,
                with: { limits in
                    limits.headerTimeout = 100
                    limits.keepAliveTimeout = 100
                },
                { live in
                    let client = try live.connect(sending: .head("GET / HTTP/1.1"), within: 100)
                    client.setTimeout(milliseconds: 400)
                    #expect(throws: Client.Failure.timedOut) { try client.receive() }
                    gate.open()
                    client.restoreTimeout()
                    return try client.answer()
                })
            #expect(reply.text == "late")
        }

        @Test func `a peer that does not read is disconnected (H178)`() async throws {
            let big = Response(.ok, "text/plain", [UInt8](repeating: 120, count: 64 << 20))
            let service = TestService { _ in Answer("", big) }
            await #expect(throws: Client.Failure.self) {
                try await serving(service, with: { limits in limits.writeIdleTimeout = 200 }) {
                    live in
                    let client = try live.connect()
                    client.setReceiveBuffer(8192)
                    try client.send(.head("GET / HTTP/1.1"))
                    repeat { try live.settle() } while live.server.connectionCount > 0
                    _ = try client.answer()
                }
            }
        }

        @Test func `the rest of an unread body must arrive in time (H92)`() async throws {
            let service = TestService { _ in Answer("", Response(.forbidden)) }
            let text = try await serving(service, with: { limits in limits.drainTimeout = 100 }) {
                live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: 100") + "some")
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["403"])
        }
    }
}

extension Client {
    /// Sends single bytes at an interval until an answer arrives, and returns the answer.
    func sendSlowly(milliseconds: Int) throws -> String {
        setTimeout(milliseconds: milliseconds)
        while true {
            try send("x")
            guard let piece = try? receive() else { continue }
            restoreTimeout()
            return String(decoding: piece, as: UTF8.self) + (try rest())
        }
    }
}
