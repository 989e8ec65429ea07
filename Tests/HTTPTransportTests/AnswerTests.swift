import HTTP
import HTTPTransport
import TestSupport
import Testing

extension LiveServerTests {
    @Suite struct `Answers over a socket` {
        @Test func `every answer has a date, an id and a single head (H91, H93, H205)`()
            async throws
        {
            let replies = try await serving { live in
                let client = try live.connect()
                try client.send(
                    (0..<50).map { number in .head("GET /\(number) HTTP/1.1") }.joined())
                let kept = try (0..<50).map { _ in try client.answer() }
                try client.send("bad\r\n")
                return kept + [try client.answer()]
            }
            let dates = replies.compactMap { reply in reply["Date"] }
            #expect(dates.count == 51)
            #expect(
                dates.allSatisfy { date in
                    date.utf8.count == 29 && HTTPDate.parse(date).map(HTTPDate.format) == date
                })
            #expect(Set(replies.compactMap { reply in reply["X-Request-Id"] }).count == 51)
            #expect(replies.allSatisfy { reply in reply["X-Request-Id"]?.utf8.count == 26 })
            #expect(replies.allSatisfy { reply in reply["X-Content-Type-Options"] == "nosniff" })
            #expect(replies.allSatisfy { reply in reply["Server"] == nil })
        }

        @Test(arguments: [0, 1, 9_999, 10_000, 65_536, 300_000, 9_000_000])
        func `content arrives whole, at every size (H88)`(size: Int) async throws {
            let content = patternBytes(size)
            let service = TestService { _ in Answer("", Response(.ok, "a/b", content)) }
            let replies = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1") + .head("GET / HTTP/1.1"))
                return [try client.answer().content, try client.answer().content]
            }
            #expect(replies == [content, content])
        }

        /// Below and above the limits of copying and of one call; the last sizes also fill the socket.
        @Test(arguments: [
            (0, 10), (1, 0), (1, 100_000), (100, 3), (202, 1500), (700, 1500), (3, 4_000_000),
        ])
        func `content in pieces arrives whole and in order (H88)`(pieces: Int, size: Int)
            async throws
        {
            let content = patternBytes(pieces * size)
            let service = TestService { request in
                guard request.target.path == "/" else { return TestService.echo(request) }
                let pieces = (0..<pieces).map { Array(content[$0 * size..<($0 + 1) * size]) }
                return Answer("", Response(.ok, content: .pieces(pieces)))
            }
            let requests = ["/", "/a", "/", "/", "/b"].map { path in "GET \(path) HTTP/1.1" }
            let exchange = { @Sendable (client: Client) in
                try client.send(requests.map { request in .head(request) }.joined())
                return try requests.map { _ in try client.answer().content }
            }
            let plain = try await serving(service) { live in try exchange(live.connect()) }
            let expected = [content, Array("/a".utf8), content, content, Array("/b".utf8)]
            #expect(plain == expected)
            let secure = try await servingSecurely(TestAuthority(), service) { live in
                try exchange(live.connectSecurely())
            }
            #expect(secure == expected)
        }

        @Test func `HEAD gets every header but no content (H68, H89)`() async throws {
            let file = try TestFile(patternBytes(5000))
            let service = TestService { request in
                let content =
                    request.target.path == "/file"
                    ? Content.file(file, offset: 0, length: 5000) : .bytes([1, 2, 3])
                return Answer("", Response(.ok, content: content))
            }
            let replies = try await serving(service) { live in
                let client = try live.connect()
                try client.send(
                    .head("HEAD /file HTTP/1.1") + .head("HEAD / HTTP/1.1")
                        + .head("GET / HTTP/1.1"))
                return [
                    try client.answer(withoutContent: true),
                    try client.answer(withoutContent: true),
                    try client.answer(),
                ]
            }
            #expect(replies.map { reply in reply["Content-Length"] } == ["5000", "3", "3"])
            #expect(replies[2].content == [1, 2, 3])
        }

        @Test(arguments: [204, 304])
        func `statuses without content have none, whatever the handler returns (H89)`(code: Int)
            async throws
        {
            let service = TestService { request in
                guard request.target.path == "/" else { return TestService.echo(request) }
                return Answer(
                    "",
                    Response(Status(code, "X"), content: .bytes(Array("HTTP/1.1 smuggled".utf8))))
            }
            let replies = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1") + .head("GET /next HTTP/1.1"))
                return [try client.answer(), try client.answer()]
            }
            #expect(replies[0]["Content-Length"] == nil)
            #expect(replies[1].text == "/next")
        }

        @Test func `an invalid header value becomes a 500 (H32)`() async throws {
            let service = TestService { request in
                guard request.target.path == "/" else { return TestService.echo(request) }
                var response = Response(.ok)
                response.fields.add("X-Bad", "a\r\nSet-Cookie: stolen")
                return Answer("", response)
            }
            let replies = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1") + .head("GET /next HTTP/1.1"))
                return [try client.answer(), try client.answer()]
            }
            #expect(replies.map(\.status) == [500, 200])
            #expect(!replies[0].head.contains("stolen"))
        }

        // MARK: Files

        @Test
        func `a file is sent unchanged, in ranges and in order with other answers (H80, H88)`()
            async throws
        {
            let pattern = patternBytes(3_000_000)
            let file = try TestFile(pattern)
            let service = TestService { request in
                switch request.target.path {
                case "/all":
                    Answer("", Response(.ok, content: .file(file, offset: 0, length: 3_000_000)))
                case "/range":
                    Answer(
                        "",
                        Response(.partialContent, content: .file(file, offset: 70_000, length: 100))
                    )
                case "/parts":
                    Answer(
                        "",
                        Response(
                            .partialContent,
                            content: .parts([
                                .bytes([1]), .file(file, offset: 5, length: 10), .bytes([2, 3]),
                                .file(file, offset: 2_999_999, length: 1),
                                .file(file, offset: 0, length: 0),
                            ])))
                default: TestService.echo(request)
                }
            }
            let paths = ["/range", "/1", "/range", "/parts", "/2", "/all", "/3", "/range", "/4"]
            let contents = try await serving(service) { live in
                let client = try live.connect()
                try client.send(paths.map { path in .head("GET \(path) HTTP/1.1") }.joined())
                return try paths.map { _ in try client.answer().content }
            }
            let range = Array(pattern[70_000..<70_100])
            #expect(contents[0] == range && contents[2] == range && contents[7] == range)
            #expect(contents[3] == [1] + pattern[5..<15] + [2, 3] + [pattern[2_999_999]])
            #expect(contents[5] == pattern)
            #expect(
                [1, 4, 6, 8].map { index in String(decoding: contents[index], as: UTF8.self) } == [
                    "/1", "/2", "/3", "/4",
                ])
        }

        private static func service(_ file: TestFile, _ count: Int64) -> TestService {
            TestService { _ in
                Answer("", Response(.ok, content: .file(file, offset: 0, length: count)))
            }
        }

        @Test func `a peer that reads in small pieces gets all of a file (H88)`() async throws {
            let pattern = patternBytes(6_000_000)
            let service = Self.service(try TestFile(pattern), 6_000_000)
            let content = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1", "Connection: close"))
                var all: [UInt8] = []
                while true {
                    let piece = try client.receive(atMost: 7000)
                    if piece.isEmpty { return all }
                    all += piece
                }
            }
            #expect(content.suffix(6_000_000) == pattern[...])
        }

        @Test func `a slow reader stays connected as long as it reads (H178)`() async throws {
            var isConnected: Bool?
            while isConnected == nil { isConnected = try await Self.slowReaderIsConnected() }
            #expect(isConnected == true)
        }

        /// Whether a reader that takes longer than the time limit stays connected; `nil` if it was disconnected after
        /// this process was stalled, so that it did not read.
        private static func slowReaderIsConnected() async throws -> Bool? {
            let service = Self.service(try TestFile(patternBytes(12_000_000)), 12_000_000)
            return try await serving(
                service, with: { limits in limits.writeIdleTimeout = 1500 }
            ) { live -> Bool? in
                let client = try live.connect()
                client.setReceiveBuffer(8192)
                try client.send(.head("GET / HTTP/1.1"))
                // A window of a few KiB delays each piece by some 40 ms; the kernel on our side
                // requests no new bytes before a third of its megabytes has been sent.
                var (count, longest) = (0, Duration.zero)
                var previous = ContinuousClock.now
                while count < 250_000 {
                    let size = (try? client.receive(atMost: 3000))?.count ?? 0
                    let time = ContinuousClock.now
                    longest = max(longest, time - previous)
                    previous = time
                    if size == 0 { return longest < .milliseconds(500) ? false : nil }
                    count += size
                }
                return live.server.connectionCount == 1
            }
        }

        @Test func `many peers read files at once`() async throws {
            let pattern = patternBytes(400_000)
            let file = try TestFile(pattern)
            let service = TestService { _ in
                Answer("", Response(.ok, content: .file(file, offset: 0, length: 400_000)))
            }
            let isWhole = try await serving(service, with: { limits in limits.loops = 2 }) { live in
                let clients = try (0..<40).map { _ in try live.connect() }
                for client in clients {
                    try client.send(.head("GET / HTTP/1.1") + .head("GET / HTTP/1.1"))
                }
                return try clients.allSatisfy { client in
                    let contents = [try client.answer().content, try client.answer().content]
                    return contents == [pattern, pattern]
                }
            }
            #expect(isWhole)
        }

        @Test func `a file shorter than its announced length breaks the connection (H88)`()
            async throws
        {
            let file = try TestFile(patternBytes(1000))
            let service = TestService { _ in
                Answer("", Response(.ok, content: .file(file, offset: 0, length: 2000)))
            }
            await #expect(throws: Client.Failure.self) {
                try await serving(service) { live in
                    let client = try live.connect()
                    try client.send(.head("GET / HTTP/1.1"))
                    _ = try client.answer()
                }
            }
        }

        @Test func `a peer that disconnects during a file leaks nothing (H191)`()
            async throws
        {
            let file = try TestFile(patternBytes(8_000_000))
            let service = TestService { request in
                request.target.path == "/file"
                    ? Answer("", Response(.ok, content: .file(file, offset: 0, length: 8_000_000)))
                    : TestService.echo(request)
            }
            let count = try await serving(service) { live in
                for _ in 0..<20 {
                    let client = try live.connect()
                    try client.send(.head("GET /file HTTP/1.1"))
                    _ = try client.receive()
                    client.reset()
                }
                while live.server.connectionCount > 0 { try live.settle() }
                return live.server.connectionCount
            }
            #expect(count == 0)
        }
    }
}
