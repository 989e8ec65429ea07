import Glibc
import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Behind proxies` {
        /// Answers with the address and the scheme of the client.
        private static let service = TestService { request in
            Answer("", Response(.ok, "text/plain", Array("\(request.peer) \(request.scheme)".utf8)))
        }

        /// A PROXY header for 192.0.2.43, with PROXY or another command.
        private static func header(_ command: UInt8 = 0x21) -> [UInt8] {
            [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, command, 0x11, 0, 12]
                + [192, 0, 2, 43, 10, 0, 0, 1, 0x12, 0x67, 1, 0xBB]
        }

        private func behind(
            _ proxies: String, _ source: ProxyTrust.Source = .none, proxyHeader: Bool = false,
            _ change: @escaping (inout ServerConfiguration) -> Void = { _ in },
            _ body: @escaping @Sendable (LiveServer) throws -> Void
        ) async throws {
            try await serving(
                Self.service,
                with: { limits in
                    limits.trust.proxies = [AddressBlock(proxies)].compactMap { block in block }
                    limits.trust.source = source
                    limits.proxyProtocol = proxyHeader ? .required : .off
                    change(&limits)
                }, body)
        }

        @Test(arguments: [
            (
                ProxyTrust.Source.forwarded, "Forwarded: for=192.0.2.43;proto=https",
                "192.0.2.43 https"
            ),
            (.xForwarded, "X-Forwarded-For: 192.0.2.43", "192.0.2.43 http"),
            (.none, "X-Forwarded-For: 192.0.2.43", "127.0.0.1 http"),
            (.forwarded, "X-Forwarded-For: 192.0.2.43", "127.0.0.1 http"),
        ]) func `a trusted proxy names its client (H199, H200, H201, H204)`(
            source: ProxyTrust.Source, line: String, said: String
        ) async throws {
            try await behind("127.0.0.0/8", source) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1", line))
                #expect(try client.answer().text == said)
            }
        }

        @Test(arguments: [ProxyTrust.Source.forwarded, .xForwarded])
        func `headers of an untrusted peer name no client (H198)`(source: ProxyTrust.Source)
            async throws
        {
            try await behind("10.0.0.0/8", source) { live in
                let client = try live.connect()
                try client.send(
                    .head(
                        "GET / HTTP/1.1", "Forwarded: for=192.0.2.43;proto=https",
                        "X-Forwarded-For: 192.0.2.43", "X-Forwarded-Proto: https",
                        "X-Real-IP: 192.0.2.43"))
                #expect(try client.answer().text == "127.0.0.1 http")
            }
        }

        @Test(arguments: [("127.0.0.1", true), ("10.0.0.1", false)])
        func `only a trusted proxy chooses the id of a request (H198, H205)`(
            proxies: String, isTrusted: Bool
        ) async throws {
            try await behind(proxies) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1", "X-Request-Id: edge-7.b_2"))
                let named = try client.answer()["X-Request-Id"]
                #expect((named == "edge-7.b_2") == isTrusted)
                try client.send(.head("GET / HTTP/1.1", "X-Request-Id: not a name"))
                #expect(try client.answer()["X-Request-Id"]?.utf8.count == 26)
            }
        }

        @Test func `each request of a connection can come from another client (H204)`() async throws
        {
            try await behind("127.0.0.1", .xForwarded) { live in
                let client = try live.connect()
                for number in 1...3 {
                    try client.send(
                        .head("GET / HTTP/1.1", "X-Forwarded-For: 192.0.2.\(number)"))
                    #expect(try client.answer().text == "192.0.2.\(number) http")
                }
            }
        }

        @Test func `a PROXY header names the client, however it is split (H202, H204)`()
            async throws
        {
            try await behind("127.0.0.1", proxyHeader: true) { live in
                for cut in [1, 12, 15, 16, 17, 27, 28] {
                    let client = try live.connect()
                    let message = Self.header() + Array(String.head("GET / HTTP/1.1").utf8)
                    try client.send(Array(message[..<cut]))
                    usleep(20_000)
                    try client.send(Array(message[cut...]))
                    #expect(try client.answer().text == "192.0.2.43 http")
                    try client.send(.head("GET / HTTP/1.1"))
                    #expect(try client.answer().text == "192.0.2.43 http")
                }
            }
        }

        @Test func `a PROXY header with LOCAL makes the proxy the client (H202)`() async throws {
            try await behind("127.0.0.1", proxyHeader: true) { live in
                let client = try live.connect()
                try client.send(Self.header(0x20) + Array(String.head("GET / HTTP/1.1").utf8))
                #expect(try client.answer().text == "127.0.0.1 http")
            }
        }

        @Test(arguments: [
            "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n",
        ])
        func `a connection without a PROXY header is closed without an answer (H202)`(text: String)
            async throws
        {
            try await behind("127.0.0.1", proxyHeader: true) { live in
                let client = try live.connect()
                try client.send(text)
                #expect(try client.endsWithoutAnswer())
                while live.server.connectionCount > 0 { usleep(1000) }
            }
        }

        @Test func `a connection of an untrusted peer is closed before it sends (H202)`()
            async throws
        {
            try await behind("10.0.0.1", proxyHeader: true) { live in
                let client = try live.connect()
                #expect(try client.endsWithoutAnswer())
                #expect(live.statistics()?.refused == [.untrusted: 1])
            }
        }

        @Test func `a PROXY header that is late closes the connection (H202)`() async throws {
            let limit = { (limits: inout ServerConfiguration) in limits.headerTimeout = 200 }
            try await behind("127.0.0.1", proxyHeader: true, limit) { live in
                let silent = try live.connect()
                let slow = try live.connect()
                try slow.send(Array(Self.header()[..<20]))
                #expect(try silent.endsWithoutAnswer())
                #expect(try slow.endsWithoutAnswer())
                while live.server.connectionCount > 0 { usleep(1000) }
            }
        }

        @Test func `without the setting a PROXY header is malformed input (H203)`() async throws {
            try await behind("127.0.0.1") { live in
                let client = try live.connect()
                try client.send(Self.header())
                #expect(try client.rest().hasPrefix("HTTP/1.1 400 "))
            }
        }

        @Test func `clients behind a PROXY header are counted separately (H182, H204)`()
            async throws
        {
            let limit = { (limits: inout ServerConfiguration) in
                limits.maximumConnectionsPerAddress = 1
            }
            try await behind("127.0.0.1", proxyHeader: true, limit) { live in
                let first = try live.connect()
                try first.send(Self.header() + Array(String.head("GET / HTTP/1.1").utf8))
                _ = try first.answer()
                let second = try live.connect()
                try second.send(Self.header())
                #expect(try second.endsWithoutAnswer())
                let local = try live.connect()
                try local.send(Self.header(0x20) + Array(String.head("GET / HTTP/1.1").utf8))
                #expect(try local.answer().status == 200)
            }
        }

        @Test func `shutdown does not wait for PROXY headers (H194)`() async throws {
            var configuration = ServerConfiguration()
            configuration.addresses = [.ipv4(0x7F00_0001, port: 0)]
            configuration.trust.proxies = [AddressBlock("127.0.0.1")].compactMap { block in block }
            configuration.proxyProtocol = .required
            let server = try Server(configuration, service: Self.service)
            let live = LiveServer(server: server, address: try server.start()[0])
            let client = try live.connect()
            try client.send([13, 10])
            #expect(await server.drain(deadline: 60_000))
            #expect(try client.endsWithoutAnswer())
        }

        @Test func `new limits and proxies apply from the next request on (H196)`() async throws {
            try await behind("10.0.0.1", .xForwarded) { live in
                let ask = { (client: Client) in
                    try client.send(.head("GET / HTTP/1.1", "X-Forwarded-For: 192.0.2.43"))
                    return try client.answer()
                }
                let old = try live.connect()
                #expect(try ask(old).text == "127.0.0.1 http")
                var configuration = ServerConfiguration()
                configuration.trust.proxies = [AddressBlock("127.0.0.1")].compactMap { $0 }
                configuration.trust.source = .xForwarded
                configuration.head.fields = 2
                live.server.apply(configuration)
                try live.settle()
                let new = try live.connect()
                #expect(try ask(new).text == "192.0.2.43 http")
                // An open connection continues, under the new limits.
                #expect(try ask(old).status == 200)
                try old.send(.head("GET / HTTP/1.1", "A: 1", "B: 2"))
                #expect(try old.answer().status == 431)
            }
        }
    }
}
