import COpenSSL
import Glibc
import HTTP
import HTTPTransport
import Synchronization
import Testing

extension Live {
    @Suite final class `TLS`: Sendable {
        nonisolated(unsafe) private let authority = TestAuthority()

        private static let request = String.head("GET /x HTTP/1.1")

        // MARK: Octets

        @Test func `requests are answered over TLS, with HSTS where it is asked for (H125, H162)`()
            async throws
        {
            try await servingSecurely(
                authority,
                with: { configuration in
                    configuration.tls?.strictTransportAge = 31_536_000
                }
            ) { live in
                let client = try live.connectSecurely()
                for _ in 0..<3 {
                    try client.send(Self.request)
                    let reply = try client.answer()
                    #expect(reply.status == 200)
                    #expect(reply.text == "/x")
                    #expect(reply["Strict-Transport-Security"] == "max-age=31536000")
                }
                #expect(live.server.tlsStatistics.established == 1)
                #expect(live.server.certificates.map(\.names) == [["localhost"]])
            }
        }

        @Test func `without TLS nothing is said about HSTS (H125)`() async throws {
            try await serving { live in
                let answer = try live.exchange(Self.request)
                #expect(!answer.contains("Strict-Transport"))
            }
        }

        @Test func `pipelined requests are answered in order (H80)`() async throws {
            try await servingSecurely(authority) { live in
                let client = try live.connectSecurely()
                try client.send(
                    (0..<200).map { number in String.head("GET /\(number) HTTP/1.1") }.joined())
                for number in 0..<200 { #expect(try client.answer().text == "/\(number)") }
            }
        }

        @Test func `records of one octet make a request (H172)`() async throws {
            try await servingSecurely(authority) { live in
                let client = try live.connectSecurely()
                for octet in Self.request.utf8 { try client.send([octet]) }
                #expect(try client.answer().status == 200)
            }
        }

        @Test func `16 MiB go up and come back, in pieces of odd sizes`() async throws {
            let service = TestService { _ in
                Answer("echo", BodyPolicy(limit: 32 << 20)) { body in
                    await TestService.collected(body)
                }
            }
            try await servingSecurely(authority, service) { live in
                let client = try live.connectSecurely()
                let content = TestFile.pattern(16 << 20)
                try client.send(.head("POST / HTTP/1.1", "Content-Length: \(content.count)"))
                var (start, size) = (0, 1)
                while start < content.count {
                    let end = min(start + size, content.count)
                    try client.send(Array(content[start..<end]))
                    (start, size) = (end, size * 7 % 100_003)
                }
                #expect(try client.answer().content == content)
            }
        }

        @Test func `a file of 16 MiB is downloaded whole, and the next answer follows`()
            async throws
        {
            let content = TestFile.pattern((16 << 20) + 7)
            let file = try TestFile(content)
            let service = TestService { request in
                guard request.target.path == "/file" else { return TestService.echo(request) }
                return Answer(
                    "file",
                    Response(
                        .ok,
                        content: .file(file, offset: 3, length: Int64(content.count - 3))))
            }
            try await servingSecurely(authority, service) { live in
                let client = try live.connectSecurely()
                client.receiveBuffer(64 << 10)
                try client.send(.head("GET /file HTTP/1.1") + .head("GET /after HTTP/1.1"))
                #expect(try client.answer().content == Array(content[3...]))
                #expect(try client.answer().text == "/after")
            }
        }

        // MARK: Ends

        @Test func `our goodbye comes before the end (H96, H170)`() async throws {
            try await servingSecurely(authority) { live in
                let client = try live.connectSecurely()
                try client.send(.head("GET / HTTP/1.1", "Connection: close"))
                #expect(try client.answer().status == 200)
                #expect(try client.receive() == [])
                #expect(client.heardGoodbye)
            }
        }

        @Test func `a goodbye after a whole request ends one side only (H83)`() async throws {
            let gate = Gate()
            let service = TestService { _ in TestService.later("late") { await gate.pass() } }
            try await servingSecurely(authority, service) { live in
                let client = try live.connectSecurely()
                try client.send(Self.request)
                client.sayGoodbye()
                gate.open()
                #expect(try client.answer().text == "late")
            }
        }

        @Test(arguments: [true, false])
        func `a body that is cut off is H51, with a goodbye or without one (H170)`(
            saysGoodbye: Bool
        ) async throws {
            try await servingSecurely(authority) { live in
                let client = try live.connectSecurely()
                try client.send(.head("POST / HTTP/1.1", "Content-Length: 10") + "half")
                if saysGoodbye { client.sayGoodbye() } else { client.finishSending() }
                let reply = try client.answer()
                #expect(reply.status == 400)
                #expect(try client.receive() == [])
            }
        }

        @Test func `a forged record ends the connection with an alert, and no other one (H191)`()
            async throws
        {
            try await servingSecurely(authority) { live in
                let other = try live.connectSecurely()
                let client = try live.connectSecurely()
                let forged: [UInt8] = [23, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32)
                _ = forged.withUnsafeBytes { octets in
                    Glibc.send(client.descriptor, octets.baseAddress, octets.count, 0)
                }
                #expect(try client.receive() == [])
                try other.send(Self.request)
                #expect(try other.answer().status == 200)
            }
        }

        // MARK: The port

        @Test(arguments: ["GET / HTTP/1.1\r\nHost: h\r\n\r\n", "G"])
        func `plain HTTP gets one 400 in plain text (H169)`(text: String) async throws {
            try await servingSecurely(authority) { live in
                let answer = try live.exchange(text)
                #expect(answer.hasPrefix("HTTP/1.1 400 "))
                #expect(answer.hasSuffix("H169"))
                #expect(!answer.contains("Location") && !answer.contains("Strict-Transport"))
            }
        }

        @Test func `anything else that is no hello is closed at once (H10)`() async throws {
            try await servingSecurely(authority) { live in
                let client = try live.connect()
                try client.send([0])
                #expect(try client.receive() == [])
            }
        }

        @Test func `a handshake that takes too long is cut (H168)`() async throws {
            try await servingSecurely(
                authority,
                with: { configuration in
                    configuration.tls?.handshakeTimeout = 200
                }
            ) { live in
                let (silent, slow) = (try live.connect(), try live.connect())
                try slow.send([22, 3, 1, 2, 0, 1])
                #expect(try silent.receive() == [])
                #expect(try slow.receive() == [])
                // The count falls when the connection's object goes, a moment after its descriptor.
                while live.server.tlsStatistics.pending > 0 { usleep(1000) }
                #expect(live.server.tlsStatistics.failed == 2)
            }
        }

        @Test func `more handshakes than allowed wait for their turn (H168)`() async throws {
            try await servingSecurely(
                authority,
                with: { configuration in
                    configuration.tls?.handshakeTimeout = 300
                    configuration.tls?.maximumHandshakes = 2
                }
            ) { live in
                let silent = [try live.connect(), try live.connect()]
                while live.server.tlsStatistics.pending < 2 { usleep(1000) }
                let client = try live.connectSecurely()
                try client.send(Self.request)
                #expect(try client.answer().status == 200)
                #expect(live.server.tlsStatistics.failed >= 1)
                _ = silent
            }
        }

        @Test func `above the limit a connection is closed before its handshake (H181)`()
            async throws
        {
            try await servingSecurely(
                authority, with: { configuration in configuration.maximumConnections = 1 }
            ) { live in
                let first = try live.connectSecurely()
                try first.send(Self.request)
                #expect(try first.answer().status == 200)
                #expect(try live.connect().endsWithoutAWord())
                #expect(live.server.tlsStatistics.pending == 0)
                try first.send(Self.request)
                #expect(try first.answer().status == 200)
            }
        }

        @Test
        func `a host under another certificate is misdirected, and the connection stays (H38)`()
            async throws
        {
            let pairs = [["DNS:a.test", "DNS:*.a.test"], ["DNS:b.test"]].map { names in
                authority.pair { wish in wish.names = names }
            }
            try await servingSecurely(
                authority,
                with: { configuration in
                    configuration.tls?.certificates = pairs
                }
            ) { live in
                let client = try live.connectSecurely { manners in manners.name = "a.test" }
                for (host, status) in [
                    ("a.test", 200), ("A.TEST:443", 200), ("x.a.test", 200), ("b.test", 421),
                    ("a.test", 200),
                ] {
                    try client.send("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                    #expect(try client.answer().status == status, "\(host)")
                }
            }
        }

        // MARK: Certificates

        @Test func `a verified identity reaches the service, and no field does (H167)`()
            async throws
        {
            let service = TestService { request in
                Answer(
                    "who",
                    Response(.ok, "text/plain", Array((request.client?.subject ?? "nobody").utf8)))
            }
            let pair = authority.pair { wish in
                wish.subject = "billing"
                wish.usage = "clientAuth"
            }
            let bundle = authority.bundle
            try await servingSecurely(
                authority, service,
                with: { configuration in
                    configuration.tls?.clientCertificates = .optional
                    configuration.tls?.clientBundle = bundle
                }
            ) { live in
                for (identity, name) in [(pair, "CN=billing"), (nil, "nobody")]
                    as [(TLSConfiguration.Pair?, String)]
                {
                    let client = try live.connectSecurely { manners in
                        manners.identity = identity
                    }
                    try client.send(.head("GET / HTTP/1.1", "X-Client-Cert: CN=admin"))
                    #expect(try client.answer().text == name)
                }
            }
        }

        @Test func `certificates are exchanged under load, and no connection is lost (H165)`()
            async throws
        {
            let pair = authority.pair()
            let other = authority.pair()
            try await servingSecurely(
                authority,
                with: { configuration in
                    configuration.loops = 2
                    configuration.tls?.certificates = [pair]
                }
            ) { live in
                var tls = TLSConfiguration()
                tls.certificates = [pair]
                let old = try live.connectSecurely()
                let first = old.certificateDigest
                var seen: Set<[UInt8]> = []
                for round in 0..<40 {
                    tls.certificates = [round % 2 == 0 ? other : pair]
                    try live.server.reload(tls: tls)
                    let client = try live.connectSecurely()
                    seen.insert(client.certificateDigest)
                    for connection in [client, old] {
                        try connection.send(Self.request)
                        #expect(try connection.answer().status == 200)
                    }
                }
                #expect(seen.count == 2 && seen.contains(first))
                // A bad pair changes nothing.
                tls.certificates = [.init(chain: pair.chain, key: other.key)]
                #expect(throws: TLSFault.self) { try live.server.reload(tls: tls) }
                #expect(try live.connectSecurely().certificateDigest == first)
            }
        }

        @Test func `files that change are read again, and bad ones are told of (H165)`()
            async throws
        {
            let pair = authority.pair()
            nonisolated(unsafe) let authority = authority
            try await servingSecurely(
                authority,
                with: { configuration in
                    configuration.tls?.certificates = [pair]
                }
            ) { live in
                var tls = TLSConfiguration()
                tls.certificates = [pair]
                let (good, bad) = (Counter(), Counter())
                let watch = CertificateWatch(live.server, tls, every: 20) { result in
                    switch result {
                    case .success: good.add(1)
                    case .failure: bad.add(1)
                    }
                }
                let first = try live.connectSecurely().certificateDigest
                authority.lay(pair)
                // Between the two files it may look once, and then once more.
                while good.value == 0 { usleep(1000) }
                let second = try live.connectSecurely().certificateDigest
                #expect(second != first)
                let before = bad.value
                authority.write(String(pair.key.dropFirst(authority.folder.count + 1))) { _ in }
                while bad.value == before { usleep(1000) }
                #expect(try live.connectSecurely().certificateDigest == second)
                withExtendedLifetime(watch) {}
            }
        }

        @Test func `stopping finishes requests under way, then says goodbye (H194)`() async throws {
            let gate = Gate()
            let begun = Counter()
            let service = TestService { _ in
                TestService.later("late") {
                    begun.add(1)
                    await gate.pass()
                }
            }
            try await servingSecurely(authority, service) { live in
                let (idle, busy) = (try live.connectSecurely(), try live.connectSecurely())
                try busy.send(Self.request)
                while begun.value == 0 { usleep(1000) }
                Task { await live.server.drain(deadline: 10_000) }
                #expect(try idle.receive() == [])
                #expect(idle.heardGoodbye)
                gate.open()
                let reply = try busy.answer()
                #expect(reply.text == "late" && reply["Connection"] == "close")
                #expect(try busy.receive() == [])
            }
        }
    }
}
