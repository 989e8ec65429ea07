import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Framing of messages` {
        @Test func `text that looks like a request inside a body is content (H53)`() async throws {
            let body = """
                --a\r
                Content-Disposition: form-data; name="f"; filename="x\r
                Content-Length: 99"\r
                Content-Length: 1000000\r
                Transfer-Encoding: chunked\r
                \r
                0\r
                \r
                --a--\r
                GET /smuggled HTTP/1.1\r
                Host: h\r
                \r

                """
            let texts = try await serving { live in
                let client = try live.connect()
                try client.send(
                    .head(
                        "POST /form HTTP/1.1", "Content-Type: multipart/form-data; boundary=a",
                        "Content-Length: \(body.utf8.count)") + body + .head("GET /next HTTP/1.1"))
                return [try client.answer().text, try client.answer().text]
            }
            #expect(texts == [body, "/next"])
        }

        @Test func `a body without a length is accepted, never 411 (H54)`() async throws {
            let replies = try await serving { live in
                let client = try live.connect()
                try client.send(
                    .head("POST /a HTTP/1.1", "Transfer-Encoding: chunked")
                        + "3\r\nabc\r\n0\r\n\r\n" + .head("GET /next HTTP/1.1"))
                return [try client.answer(), try client.answer()]
            }
            #expect(replies.map(\.status) == [200, 200])
            #expect(replies.map(\.text) == ["abc", "/next"])
        }

        @Test func `after a refusal nothing more is read as a request (H6)`() async throws {
            let text = try await serving { live in
                try live.exchange(
                    .head("GET /a HTTP/1.1") + .head("GET /b HTTP/1.1", "Content-Length: +1")
                        + .head("GET /c HTTP/1.1"))
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["200", "400"])
        }
    }
}
