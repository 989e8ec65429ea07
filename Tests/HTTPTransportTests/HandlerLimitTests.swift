import Glibc
import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Limits of handlers` {
        @Test
        func `a handler that takes too long is cancelled, and its answer is replaced (H177)`()
            async throws
        {
            let gate = Gate()
            let cancelled = Counter()
            let service = TestService { request in
                guard request.target.path == "/slow" else { return TestService.echo(request) }
                return TestService.later("late") {
                    await withTaskCancellationHandler {
                        await gate.pass()
                    } onCancel: {
                        cancelled.add(1)
                    }
                }
            }
            try await serving(service, with: { limits in limits.handlerTimeout = 200 }) { live in
                let client = try live.connect()
                try client.send(.head("GET /slow HTTP/1.1"))
                let reply = try client.answer()
                #expect(reply.status == 503)
                #expect(reply.text == "H177")
                #expect(reply["Retry-After"] != nil)
                #expect(cancelled.value == 1)
                // The connection serves the next requests, before and after the handler ends.
                try client.send(.head("GET /a HTTP/1.1"))
                #expect(try client.answer().text == "/a")
                #expect(live.server.handlerCounts.running == 1)
                gate.open()
                while live.server.handlerCounts.running > 0 { usleep(1000) }
                try client.send(.head("GET /b HTTP/1.1"))
                #expect(try client.answer().text == "/b")
            }
        }

        @Test func `requests pipelined behind a slow handler are served after its 503 (H82, H177)`()
            async throws
        {
            let gate = Gate()
            let service = TestService { request in
                guard request.target.path == "/slow" else { return TestService.echo(request) }
                return TestService.later("late") { await gate.pass() }
            }
            let texts = try await serving(service, with: { limits in limits.handlerTimeout = 200 })
            { live in
                let client = try live.connect()
                try client.send(
                    .head("PUT /slow HTTP/1.1", "Content-Length: 3") + "abc"
                        + .head("GET /b HTTP/1.1"))
                defer { gate.open() }
                return [try client.answer().text, try client.answer().text]
            }
            #expect(texts == ["H177", "/b"])
        }

        @Test func `time that a handler waits for its body does not count (H177)`()
            async throws
        {
            let text = try await serving(with: { limits in limits.handlerTimeout = 300 }) { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Content-Length: 5") + "hel")
                client.setTimeout(milliseconds: 700)
                #expect(throws: Client.Failure.timedOut) { try client.receive() }
                client.restoreTimeout()
                try client.send("lo")
                return try client.answer().text
            }
            #expect(text == "hello")
        }

        @Test func `a request has a time limit, also while its handler runs (H176)`() async throws {
            let gate = Gate()
            let service = TestService { _ in TestService.later("late") { await gate.pass() } }
            let reply = try await serving(service, with: { limits in limits.requestTimeout = 200 })
            { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                defer { gate.open() }
                return try client.answer()
            }
            #expect(reply.status == 503)
        }

        @Test func `a route without a time limit may run as long as it needs (H177)`() async throws
        {
            let gate = Gate()
            let service = TestService { _ in
                Answer("", BodyPolicy(limit: 9, isTimed: false)) { _ in
                    await gate.pass()
                    return Response(.ok, "text/plain", Array("late".utf8))
                }
            }
            let text = try await serving(
                service,
                with: { limits in
                    limits.handlerTimeout = 100
                    limits.requestTimeout = 100
                },
                { live in
                    let client = try live.connect()
                    try client.send(.head("GET / HTTP/1.1"))
                    client.setTimeout(milliseconds: 400)
                    #expect(throws: Client.Failure.timedOut) { try client.receive() }
                    client.restoreTimeout()
                    gate.open()
                    return try client.answer().text
                })
            #expect(text == "late")
        }

        @Test func `above the limit requests wait, and the next ones are refused (H187)`()
            async throws
        {
            let gate = Gate()
            let service = TestService { request in
                TestService.later(request.target.path) { await gate.pass() }
            }
            try await serving(
                service,
                with: { limits in
                    limits.maximumHandlers = 1
                    limits.maximumQueue = 1
                },
                { live in
                    let clients = try (0..<3).map { number in
                        let client = try live.connect()
                        try client.send(.head("GET /\(number) HTTP/1.1"))
                        if number == 0 {
                            while live.server.handlerCounts.running == 0 { usleep(1000) }
                        } else if number == 1 {
                            while live.server.handlerCounts.waiting == 0 { usleep(1000) }
                        }
                        return client
                    }
                    let refused = try clients[2].answer()
                    #expect(refused.status == 503)
                    #expect(refused.text == "H187")
                    #expect(refused["Retry-After"] != nil)
                    let statistics = live.statistics()
                    #expect(statistics?.runningHandlers == 1)
                    #expect(statistics?.queuedRequests == 1)
                    gate.open()
                    #expect(try clients[0].answer().text == "/0")
                    #expect(try clients[1].answer().text == "/1")
                    // The refused connection stayed open.
                    try clients[2].send(.head("GET /again HTTP/1.1"))
                    #expect(try clients[2].answer().text == "/again")
                    #expect(live.server.handlerCounts.running == 0)
                    #expect(live.server.handlerCounts.waiting == 0)
                })
        }

        @Test func `waiting for a handler ends at a limit, and when the client disconnects (H187)`()
            async throws
        {
            let gate = Gate()
            let service = TestService { request in
                TestService.later(request.target.path) { await gate.pass() }
            }
            try await serving(
                service,
                with: { limits in limits.maximumHandlers = 1 },
                { live in
                    let first = try live.connect()
                    try first.send(.head("GET /0 HTTP/1.1"))
                    while live.server.handlerCounts.running == 0 { usleep(1000) }
                    let gone = try live.connect()
                    try gone.send(.head("GET /1 HTTP/1.1"))
                    while live.server.handlerCounts.waiting == 0 { usleep(1000) }
                    gone.reset()
                    while live.server.handlerCounts.waiting > 0 { usleep(1000) }
                    var configuration = ServerConfiguration()
                    configuration.maximumHandlers = 1
                    configuration.queueTimeout = 300
                    live.server.apply(configuration)
                    try live.settle()
                    let late = try live.connect()
                    try late.send(.head("GET /2 HTTP/1.1"))
                    #expect(try late.answer().text == "H187")
                    gate.open()
                    #expect(try first.answer().text == "/0")
                    while live.server.handlerCounts.running > 0 { usleep(1000) }
                })
        }

        @Test func `bodies in memory share a limit and release what they reserved (H186)`()
            async throws
        {
            let gate = Gate()
            let service = TestService { request in
                Answer("") { body in
                    let response = await TestService.collected(body)
                    if request.target.path == "/keep" { await gate.pass() }
                    return response
                }
            }
            try await serving(service, with: { limits in limits.maximumBufferedBodies = 1000 }) {
                live in
                let put = { (path: String, count: Int) in
                    let client = try live.connect()
                    try client.send(
                        .head("PUT \(path) HTTP/1.1", "Content-Length: \(count)")
                            + String(repeating: "x", count: count))
                    return client
                }
                let keeping = try put("/keep", 700)
                while live.server.bufferedCount < 700 { usleep(1000) }
                let refused = try put("/", 400).answer()
                #expect(refused.status == 503)
                #expect(refused.text == "H186")
                #expect(try put("/", 300).answer().status == 200)
                gate.open()
                #expect(try keeping.answer().status == 200)
                while live.server.bufferedCount > 0 { usleep(1000) }
                #expect(try put("/", 1000).answer().status == 200)
            }
        }
    }
}
