import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Persistent connections` {
        @Test func `HTTP/1.1 stays open until either side sends close (H78)`() async throws {
            let replies = try await serving { live in
                let client = try live.connect()
                try client.send(.head("GET /a HTTP/1.1"))
                let first = try client.answer()
                try client.send(.head("GET /b HTTP/1.1", "Connection: close"))
                let second = try client.answer()
                return (first, second, try client.rest())
            }
            #expect(replies.0["Connection"] == nil)
            #expect(replies.1["Connection"] == "close")
            #expect(replies.2.isEmpty)
        }

        @Test func `an HTTP/1.0 connection ends after its answer, which says 1.1 (H79, H90, H91)`()
            async throws
        {
            let reply = try await serving { live in
                let client = try live.connect()
                try client.send("GET /a HTTP/1.0\r\n\r\n")
                let reply = try client.answer()
                #expect(try client.rest().isEmpty)
                return reply
            }
            #expect(reply.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(reply["Connection"] == "close")
            #expect(reply["Transfer-Encoding"] == nil)
        }

        @Test func `HTTP/1.0 stays open on request, and the answer has keep-alive (H79)`()
            async throws
        {
            let replies = try await serving { live in
                let client = try live.connect()
                return try (0..<2).map { _ in
                    try client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                    return try client.answer()
                }
            }
            #expect(replies.map { reply in reply["Connection"] } == ["keep-alive", "keep-alive"])
            #expect(replies.map { reply in reply["Content-Length"] } == ["2", "2"])
        }

        @Test func `the answer to the last request of a connection has close (H84)`() async throws {
            let text = try await serving(with: { limits in limits.maximumRequests = 3 }) { live in
                try live.exchange(String(repeating: .head("GET /a HTTP/1.1"), count: 5))
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["200", "200", "200"])
            #expect(text.components(of: "Connection: close").count == 1)
        }

        @Test func `a connection above its maximum age closes with its next answer (H84)`()
            async throws
        {
            let reply = try await serving(with: { limits in limits.maximumAge = -1000 }) { live in
                let client = try live.connect()
                try client.send(.head("GET /a HTTP/1.1"))
                return try client.answer()
            }
            #expect(reply["Connection"] == "close")
        }

        @Test func `a service can end the connection (H78)`() async throws {
            let service = TestService { _ in Answer("", Response(.ok, ending: .close)) }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1") + .head("GET / HTTP/1.1"))
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["200"])
        }

        @Test func `a dropped answer sends nothing, and earlier answers are sent (H82)`()
            async throws
        {
            let service = TestService { request in
                switch request.target.path {
                case "/drop": Answer("", .dropped)
                case "/drop-later": Answer("") { _ in .dropped }
                default: TestService.echo(request)
                }
            }
            let texts = try await serving(service) { live in
                try ["/drop", "/drop-later"].map { path in
                    let client = try live.connect()
                    try client.send(
                        .head("GET /a HTTP/1.1") + .head("GET \(path) HTTP/1.1")
                            + .head("GET /b HTTP/1.1"))
                    return try client.rest()
                }
            }
            #expect(texts.allSatisfy { text in text.hasSuffix("\r\n\r\n/a") })
        }

        @Test func `a peer that shuts down its sending side still gets its answers (H83)`()
            async throws
        {
            let gate = Gate()
            let service = TestService { request in
                request.target.path == "/later"
                    ? TestService.later("done") { await gate.pass() } : TestService.echo(request)
            }
            let text = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET /a HTTP/1.1") + .head("GET /later HTTP/1.1"))
                client.finishSending()
                try live.settle()
                gate.open()
                return try client.rest()
            }
            #expect(text.hasSuffix("\r\n\r\ndone"))
            #expect(text.components(of: "HTTP/1.1 ") == ["200", "200"])
        }

        @Test
        func `a peer that shuts down its sending side inside a head gets an error (H51, H83)`()
            async throws
        {
            let text = try await serving { live in
                try live.exchange(.head("GET /a HTTP/1.1") + "GET /b HTTP/1.1\r\nHo")
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["200", "400"])
        }

        @Test(arguments: [
            String.head("PUT / HTTP/1.1", "Content-Length: 6") + "hello",
            .head("PUT / HTTP/1.1", "Transfer-Encoding: chunked") + "5\r\nhello\r\n",
            .head("PUT / HTTP/1.1", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n",
        ])
        func `a truncated body is never complete (H51)`(request: String) async throws {
            let text = try await serving { live in try live.exchange(request) }
            #expect(text.components(of: "HTTP/1.1 ") == ["400"])
            #expect(text.hasSuffix("interrupted"))
        }

        @Test func `a connection without a request ends without an answer`() async throws {
            let text = try await serving { live in try live.exchange("") }
            #expect(text.isEmpty)
        }
    }
}
