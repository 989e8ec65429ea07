import Glibc
import HTTP
import HTTPTransport
import TestSupport
import Testing

extension LiveServerTests {
    @Suite struct `Streams to slow readers` {
        @Test func `a producer waits above writeHigh and continues at writeLow (H185)`()
            async throws
        {
            let written = Counter()
            let piece = patternBytes(100_000)
            let service = TestService { _ in
                let content = Content.written { writer in
                    for _ in 0..<100 {
                        try await writer.write(piece)
                        written.add(1)
                    }
                }
                return Answer("", Response(.ok, content: content))
            }
            let content = try await serving(service) { live in
                let client = try live.connect()
                client.setReceiveBuffer(64 << 10)
                try client.send(.head("GET / HTTP/1.0"))
                // The producer stops though the client does not read: sockets hold a bounded amount.
                var before = -1
                try eventually {
                    defer { before = written.value }
                    try live.settle()
                    return written.value > 0 && written.value == before
                }
                #expect(written.value < 100)
                return try client.content()
            }
            var expected: [UInt8] = []
            for _ in 0..<100 { expected += piece }
            #expect(content == expected)
            #expect(written.value == 100)
        }

        @Test func `a reader that stops is disconnected, and the producer is notified (H178)`()
            async throws
        {
            let failed = Counter()
            let service = TestService { _ in
                let content = Content.written { writer in
                    do {
                        while true { try await writer.write([UInt8](repeating: 1, count: 65_536)) }
                    } catch {
                        failed.add(1)
                        throw error
                    }
                }
                return Answer("", Response(.ok, content: content))
            }
            try await serving(service, with: { change in change.writeIdleTimeout = 300 }) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                try eventually { live.server.connectionCount == 0 && failed.value == 1 }
            }
        }

        @Test func `a reader below the lowest rate is disconnected, however steady (H178)`()
            async throws
        {
            let service = TestService { _ in
                Answer("", Response(.ok, content: .bytes([UInt8](repeating: 1, count: 30_000_000))))
            }
            let isReset = try await serving(
                service,
                with: { change in
                    change.minimumWriteRate = 50_000_000
                    change.writeGrace = 500
                }
            ) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                try eventually {
                    _ = try? client.receive(atMost: 50_000)
                    return live.server.connectionCount == 0
                }
                return true
            }
            #expect(isReset)
        }

        @Test func `the bytes of a broadcast to slow readers are held once (H144)`() async throws {
            let (channels, sent) = (TestChannels(), Counter())
            let service = TestService { _ in
                let handler = TestHandler(opened: { channel in channels.add(channel) })
                return Answer("", Upgrade(to: "test", handler: handler))
            }
            let grown = try await serving(service) { live in
                let message = [UInt8](repeating: 1, count: 8 << 20)
                var clients: [Client] = []
                var grown = Int.max
                // Other suites share the process and grow, too, but not each time.
                for round in 1...3 where grown >= 100 << 20 {
                    channels.forget()
                    for _ in 0..<50 {
                        let client = try live.connect()
                        client.setReceiveBuffer(16 << 10)
                        try client.send(.head("GET / HTTP/1.1"))
                        _ = try client.answer()
                        clients.append(client)
                    }
                    let before = try residentBytes()
                    channels.each { channel in
                        channel.send(message)
                        sent.add(1)
                    }
                    try eventually { sent.value == 50 * round }
                    try live.settle()
                    grown = try residentBytes() - before
                }
                for client in clients { client.reset() }
                return grown
            }
            #expect(grown < 100 << 20)
        }

        @Test func `a handler that pauses reading stops its peer, and can resume (H185)`()
            async throws
        {
            let (channels, received) = (TestChannels(), Counter())
            let content = [UInt8](repeating: 1, count: 20_000_000)
            let service = TestService { _ in
                let handler = TestHandler(
                    opened: { channel in
                        channel.isReading = false
                        channels.add(channel)
                    },
                    received: { channel, bytes in
                        received.add(bytes.count)
                        if received.value == content.count { channel.finish() }
                    })
                return Answer("", Upgrade(to: "test", handler: handler))
            }
            let sent = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                _ = try client.answer()
                let sent = client.sendUntilBlocked(content)
                #expect(received.value == 0)
                channels.each { channel in channel.isReading = true }
                try client.send(Array(content[sent...]))
                #expect(try client.rest().isEmpty)
                return sent
            }
            #expect(sent < content.count)
            #expect(received.value == content.count)
        }
    }
}
