import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Expecting 100 Continue` {
        private static let refusing = TestService { request in
            request.target.path == "/no"
                ? Answer("", Response(.forbidden, "text/plain", Array("no".utf8)))
                : TestService.echo(request)
        }

        @Test func `a handler that reads the body sends 100 first, once (H73, H74)`() async throws {
            let (interim, final) = try await serving(Self.refusing) { live in
                let client = try live.connect()
                try client.send(
                    .head("PUT / HTTP/1.1", "Expect: 100-Continue", "Content-Length: 5"))
                let interim = try client.answer()
                try client.send("he")
                try live.settle()
                try client.send("llo")
                return (interim, try client.answer())
            }
            #expect(interim.head == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(final.status == 200)
            #expect(final.text == "hello")
            #expect(final["Connection"] == nil)
        }

        private static let interimService = TestService { _ in
            Answer("informing") { body in
                var response = Response(Status(104, "Upload Resumption Supported"))
                response.fields.add("Location", "/here")
                body.sendInterim(response)
                let answer = await TestService.collected(body)
                body.sendInterim(response)
                return answer
            }
        }

        @Test func `other interim responses precede 100 and the answer (H73)`()
            async throws
        {
            let heads = try await serving(Self.interimService) { live in
                let client = try live.connect()
                try client.send(
                    .head("PUT / HTTP/1.1", "Expect: 100-continue", "Content-Length: 5"))
                var heads = [try client.answer().head, try client.answer().head]
                try client.send("hello")
                heads += [try client.answer().head, String(try client.answer().status)]
                return heads
            }
            let interim = "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /here\r\n\r\n"
            #expect(heads == [interim, "HTTP/1.1 100 Continue\r\n\r\n", interim, "200"])
        }

        @Test func `an HTTP/1.0 client gets no interim response (H73)`() async throws {
            let text = try await serving(Self.interimService) { live in
                let client = try live.connect()
                try client.send("PUT / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello")
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["200"])
        }

        @Test func `100 is sent after the earlier answers (H74, H82)`() async throws {
            let statuses = try await serving(Self.refusing) { live in
                let client = try live.connect()
                try client.send(
                    .head("GET /a HTTP/1.1")
                        + .head(
                            "PUT / HTTP/1.1", "Expect: 100-continue", "Transfer-Encoding: chunked"))
                let before = [try client.answer().status, try client.answer().status]
                try client.send("1\r\nx\r\n0\r\n\r\n")
                return before + [try client.answer().status]
            }
            #expect(statuses == [200, 100, 200])
        }

        @Test func `a refusal by the head sends no 100 and ends the connection (H73, H76)`()
            async throws
        {
            let text = try await serving(Self.refusing) { live in
                let client = try live.connect()
                try client.send(
                    .head("PUT /no HTTP/1.1", "Expect: 100-continue", "Content-Length: 5"))
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["403"])
            #expect(text.contains("Connection: close\r\n"))
        }

        @Test func `a body that is too long is refused before any 100 (H44)`() async throws {
            let text = try await serving(Self.refusing) { live in
                let client = try live.connect()
                try client.send(
                    .head("PUT / HTTP/1.1", "Expect: 100-continue", "Content-Length: 1048577"))
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["413"])
        }

        @Test(arguments: [
            String.head("PUT / HTTP/1.1", "Expect: 100-continue"),
            .head("PUT / HTTP/1.1", "Expect: 100-continue", "Content-Length: 0"),
            .head("PUT / HTTP/1.0", "Expect: 100-continue", "Content-Length: 1") + "x",
            .head("PUT / HTTP/1.1", "Expect: 100-continue", "Content-Length: 1") + "x",
            .head("PUT / HTTP/1.1", "Expect: 100-continue", "Transfer-Encoding: chunked")
                + "0\r\n\r\n",
        ])
        func `100 is not sent without a body, to HTTP/1.0, or once the body has arrived (H74)`(
            request: String
        ) async throws {
            let text = try await serving(Self.refusing) { live in try live.exchange(request) }
            #expect(text.components(of: "HTTP/1.1 ") == ["200"])
        }

        @Test func `any other expectation is refused (H75)`() async throws {
            let text = try await serving { live in
                let client = try live.connect()
                try client.send(.head("PUT / HTTP/1.1", "Expect: 102-please", "Content-Length: 5"))
                return try client.rest()
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["417"])
            #expect(text.contains("Connection: close\r\n"))
        }
    }
}
