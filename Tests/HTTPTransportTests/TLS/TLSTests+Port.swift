import COpenSSL
import Glibc
import HTTP
import HTTPTransport
import Synchronization
import Testing

// Which clients may connect, and how long that may take.
extension LiveServerTests.`TLS` {
    @Test(arguments: ["GET / HTTP/1.1\r\nHost: h\r\n\r\n", "G"])
    func `plain HTTP gets one 400 in plain text (H169)`(text: String) async throws {
        try await servingSecurely(authority) { live in
            let answer = try live.exchange(text)
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(answer.hasSuffix("H169"))
            #expect(!answer.contains("Location") && !answer.contains("Strict-Transport"))
        }
    }

    @Test func `other bytes that are no ClientHello close the connection at once (H10)`()
        async throws
    {
        try await servingSecurely(authority) { live in
            let client = try live.connect()
            try client.send([0])
            #expect(try client.receive() == [])
        }
    }

    @Test func `a handshake that takes too long is aborted (H168)`() async throws {
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
            // The count falls when the connection is released, a moment after its descriptor.
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
            var statistics = TLSStatistics()
            repeat {
                usleep(1000)
                statistics = live.server.tlsStatistics
            } while statistics.pending + statistics.failed < 2
            // If this process is stalled, its own handshake may take too long, too.
            var connected: TLSClient?
            while connected == nil { connected = try? live.connectSecurely() }
            let client = try #require(connected)
            try client.send(Self.request)
            #expect(try client.answer().status == 200)
            #expect(live.server.tlsStatistics.failed >= 1)
            _ = silent
        }
    }

    @Test func `a slow handshake is aborted in favour of other clients (H168)`() async throws {
        try await servingSecurely(
            authority,
            with: { configuration in
                configuration.tls?.handshakeTimeout = 300_000
                configuration.tls?.maximumHandshakes = 2
            }
        ) { live in
            let silent = [try live.connect(), try live.connect()]
            while live.server.tlsStatistics.pending < 2 { usleep(1000) }
            let began = time(nil)
            for _ in 0..<2 {
                let client = try live.connectSecurely()
                try client.send(Self.request)
                #expect(try client.answer().status == 200)
            }
            // Their own limit would have been five minutes.
            #expect(time(nil) - began < 120)
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
            #expect(try live.connect().endsWithoutAnswer())
            #expect(live.server.tlsStatistics.pending == 0)
            try first.send(Self.request)
            #expect(try first.answer().status == 200)
        }
    }

    @Test
    func `a host of another certificate is misdirected, and the connection stays (H38)`()
        async throws
    {
        let pairs = [["DNS:a.test", "DNS:*.a.test"], ["DNS:b.test"]].map { names in
            authority.pair { options in options.names = names }
        }
        try await servingSecurely(
            authority,
            with: { configuration in
                configuration.tls?.certificates = pairs
            }
        ) { live in
            let client = try live.connectSecurely { options in options.name = "a.test" }
            for (host, status) in [
                ("a.test", 200), ("A.TEST:443", 200), ("x.a.test", 200), ("b.test", 421),
                ("a.test", 200),
            ] {
                try client.send("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                #expect(try client.answer().status == status, "\(host)")
            }
        }
    }
}
