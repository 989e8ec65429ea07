import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Order of answers` {
        /// Even numbers are answered at once, odd ones by a handler that waits a little.
        private static func mixed(_ running: Counter, _ most: Counter) -> TestService {
            TestService { request in
                let text = request.target.path
                guard (Int(text.dropFirst()) ?? 0) % 2 == 1 else {
                    return Answer("", Response(.ok, "text/plain", Array(text.utf8)))
                }
                return TestService.later(text) {
                    running.add(1)
                    if running.value > 1 { most.add(1) }
                    await Task.yield()
                    running.add(-1)
                }
            }
        }

        @Test func `pipelined requests are answered in order, one handler at a time (H80)`()
            async throws
        {
            let (running, overlaps) = (Counter(), Counter())
            let texts = try await serving(Self.mixed(running, overlaps)) { live in
                let client = try live.connect()
                try client.send(
                    (0..<200).map { number in .head("GET /\(number) HTTP/1.1") }.joined())
                return try (0..<200).map { _ in try client.answer().text }
            }
            #expect(texts == (0..<200).map { number in "/\(number)" })
            #expect(overlaps.value == 0)
        }

        @Test func `a malformed request is answered after the ones before it, once (H7, H82)`()
            async throws
        {
            let text = try await serving(Self.mixed(Counter(), Counter())) { live in
                try live.exchange(
                    .head("GET /1 HTTP/1.1") + .head("GET /2 HTTP/1.1")
                        + .head("GET /3 HTTP/1.1", "bad line")
                        + .head("GET /4 HTTP/1.1"))
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["200", "200", "400"])
            #expect(text.contains("Connection: close\r\n"))
        }

        @Test func `requests after Connection: close are ignored (H78)`() async throws {
            let seen = Counter()
            let service = TestService { request in
                seen.add(1)
                return TestService.echo(request)
            }
            let text = try await serving(service) { live in
                try live.exchange(
                    .head("GET /1 HTTP/1.1") + .head("GET /2 HTTP/1.1", "Connection: x, CLOSE")
                        + .head("GET /3 HTTP/1.1"))
            }
            #expect(text.components(of: "HTTP/1.1 ") == ["200", "200"])
            #expect(seen.value == 2)
        }

        @Test func `each pipelined request gets its own body (H45, H52)`() async throws {
            let texts = try await serving { live in
                let client = try live.connect()
                let chunks = "3;x=y\r\nabc\r\n0\r\nT: t\r\n\r\n\r\n"
                try client.send(.head("POST /1 HTTP/1.1", "Content-Length: 5") + "hello")
                try client.send(.head("POST /2 HTTP/1.1", "Transfer-Encoding: chunked") + chunks)
                try client.send(.head("GET /3 HTTP/1.1", "Content-Length: 3") + "GET")
                try client.send(.head("DELETE /4 HTTP/1.1"))
                return try (0..<4).map { _ in try client.answer().text }
            }
            #expect(texts == ["hello", "abc", "GET", "/4"])
        }

        @Test func `a request split at any byte is read the same (H3)`() async throws {
            let request =
                String.head(
                    "POST /x HTTP/1.1", "Transfer-Encoding: chunked",
                    "X-Long: " + String(repeating: "v", count: 30))
                + "5\r\nhello\r\n2\r\n, \r\n5\r\nworld\r\n0\r\nA: b\r\n\r\n"
            let bytes = Array(request.utf8)
            let texts = try await serving { live in
                let client = try live.connect()
                return try (0...bytes.count).map { cut in
                    try client.send(Array(bytes[..<cut]))
                    try live.settle()
                    try client.send(Array(bytes[cut...]))
                    return try client.answer().text
                }
            }
            #expect(texts.allSatisfy { text in text == "hello, world" })
        }

        @Test func `a request sent byte by byte is read the same (H3)`() async throws {
            let text = try await serving { live in
                let client = try live.connect()
                for byte in (String.head("POST / HTTP/1.1", "Content-Length: 3") + "abc").utf8 {
                    try client.send([byte])
                    try live.settle()
                }
                return try client.answer().text
            }
            #expect(text == "abc")
        }

        @Test func `answers of handlers that do not wait are sent in order (H80)`()
            async throws
        {
            let service = TestService { request in TestService.later(request.target.path) {} }
            let texts = try await serving(service) { live in
                let client = try live.connect()
                try client.send(
                    (0..<2000).map { number in .head("GET /\(number) HTTP/1.1") }.joined())
                return try (0..<2000).map { _ in try client.answer().text }
            }
            #expect(texts == (0..<2000).map { number in "/\(number)" })
        }
    }
}

extension String {
    /// The number after each occurrence of a text: the statuses after `HTTP/1.1 `.
    func components(of mark: String) -> [String] {
        var words: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: mark) {
            rest = rest[range.upperBound...]
            words.append(String(rest.prefix { character in character.isNumber }))
        }
        return words
    }
}
