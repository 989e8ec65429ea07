import HTTP
import HTTPTransport
import TestSupport
import Testing

extension LiveServerTests {
    @Suite struct `Malformed input over a socket` {
        /// First bytes that can never become a request, and the status they get.
        @Test(arguments: [
            ("\u{16}\u{3}\u{1}", 400), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505), ("\n", 400),
            (" GET", 400),
            ("\r\n\r\n", 400), ("\u{0}", 400), ("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: h\r\n bad", 400), ("GET / HTTP/1.1\r\nHost : ", 400),
            ("GET / HTTP/3.0\r\n", 505), ("GET / HTTP/1.1\r\nX\u{0}", 400), ("GET /\r\n", 400),
        ])
        func `an invalid byte is answered at once, not at the time limit (H7, H10, H14)`(
            bytes: String, status: Int
        ) async throws {
            let text = try await serving(with: { limits in limits.headerTimeout = 600_000 }) {
                live in
                let client = try live.connect()
                try client.send(bytes)
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["\(status)"])
            #expect(text.contains("Connection: close\r\n"))
        }

        @Test(arguments: [
            ("GET /" + String(repeating: "a", count: 8200), 414),
            (String(repeating: "A", count: 30), 501),
            ("GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "x", count: 16_500), 431),
            ("GET / HTTP/1.1\r\n" + String(repeating: "X", count: 16_500), 431),
            (
                "GET / HTTP/1.1\r\n"
                    + String(repeating: "X: \(String(repeating: "y", count: 900))\r\n", count: 40),
                431
            ),
            ("GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 100) + "X", 431),
        ])
        func `a head that is too large is refused before it ends (H21, H55)`(
            bytes: String, status: Int
        )
            async throws
        {
            let text = try await serving { live in
                let client = try live.connect()
                try client.send(bytes)
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["\(status)"])
        }

        @Test func `limits apply to each request separately (H56)`() async throws {
            let text = try await serving { live in
                try live.exchange(
                    String(
                        repeating: .head(
                            "GET / HTTP/1.1", "X: " + String(repeating: "x", count: 9000)),
                        count: 30))
            }
            #expect(text.components(of: "HTTP/1.1 ").count == 30)
        }

        @Test func `OPTIONS * lists what the server supports (H18)`() async throws {
            let replies = try await serving { live in
                let client = try live.connect()
                try client.send(.head("OPTIONS * HTTP/1.1") + .head("GET /next HTTP/1.1"))
                return [try client.answer(), try client.answer()]
            }
            #expect(replies[0].status == 204)
            #expect(replies[0]["Allow"] == "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
            #expect(replies[1].text == "/next")
        }

        @Test func `TRACE gets the allowed methods, and no echo (H20)`() async throws {
            let service = TestService { request in
                guard request.target.path == "/known", request.method == .options else {
                    return TestService.echo(request)
                }
                var response = Response(.noContent)
                response.fields.add("Allow", "GET, OPTIONS")
                return Answer("known", response)
            }
            let replies = try await serving(service) { live in
                let client = try live.connect()
                try client.send(
                    .head("TRACE /known HTTP/1.1", "X-Secret: s", "Content-Length: 3") + "abc"
                        + .head("TRACE /not/known HTTP/1.1") + .head("GET /next HTTP/1.1"))
                return [try client.answer(), try client.answer(), try client.answer()]
            }
            #expect(replies.map(\.status) == [405, 501, 200])
            #expect(replies[0]["Allow"] == "GET, OPTIONS")
            #expect(!replies[0].text.contains("Secret") && !replies[0].text.contains("abc"))
        }

        @Test(arguments: ["trace", "get", "FOO", "PROPFIND"])
        func `an unknown method is answered and the connection stays open (H12)`(
            method: String
        ) async throws {
            let replies = try await serving { live in
                let client = try live.connect()
                try client.send(
                    .head("\(method) /secret HTTP/1.1", "X-Secret: s", "Content-Length: 3") + "abc")
                try client.send(.head("GET /next HTTP/1.1"))
                return [try client.answer(), try client.answer()]
            }
            #expect(replies[0].status == 501)
            #expect(!replies[0].text.contains("s"))
            #expect(replies[1].text == "/next")
        }

        @Test func `CONNECT opens no tunnel (H19)`() async throws {
            let text = try await serving { live in
                let client = try live.connect()
                try client.send("CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\nGET / HTTP/1.1\r\n")
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["501"])
            #expect(text.contains("Connection: close\r\n"))
        }

        @Test func `a host outside the list is misdirected and the connection stays open (H37)`()
            async throws
        {
            let replies = try await serving(with: { limits in limits.head.allowedHosts = ["h"] }) {
                live in
                let client = try live.connect()
                try client.send(
                    "GET / HTTP/1.1\r\nHost: evil\r\n\r\n" + .head("GET /next HTTP/1.1"))
                return [try client.answer().status, try client.answer().status]
            }
            #expect(replies == [421, 200])
        }

        @Test func `an upgrade that is not offered is ignored (H86)`() async throws {
            let reply = try await serving { live in
                let client = try live.connect()
                try client.send(
                    .head(
                        "GET /x HTTP/1.1", "Upgrade: h2c", "Connection: Upgrade",
                        "HTTP2-Settings: AA"))
                return try client.answer()
            }
            #expect(reply.status == 200)
        }

        @Test(arguments: 0..<60)
        func `random messages close at most their own connection (H191, H215)`(case number: UInt64)
            async throws
        {
            var random = SeededGenerator(number)
            let seed = Array(
                (.head("PUT /a HTTP/1.1", "Transfer-Encoding: chunked") + "3\r\nabc\r\n0\r\n\r\n"
                    + .head("POST /b HTTP/1.1", "Content-Length: 4", "Expect: 100-continue")
                    + "body"
                    + .head("GET /c HTTP/1.1")).utf8)
            let messages = (0..<20).map { _ in random.mutation(of: seed) }
            let reply = try await serving { live in
                for message in messages {
                    let client = try live.connect()
                    try? client.send(message)
                    client.finishSending()
                    _ = try? client.rest()
                }
                let client = try live.connect()
                try client.send(.head("GET /alive HTTP/1.1"))
                return try client.answer().text
            }
            #expect(reply == "/alive")
        }
    }
}
