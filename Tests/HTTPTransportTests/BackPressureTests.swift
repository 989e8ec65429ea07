import Glibc
import HTTP
import HTTPTransport
import TestSupport
import Testing

extension Live {
    @Suite struct `Streams to slow readers` {
        @Test func `a producer waits above writeHigh and goes on at writeLow (H185)`()
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
                client.receiveBuffer(64 << 10)
                try client.send(.head("GET / HTTP/1.0"))
                // It stops although the client does not read: what the sockets hold is bounded.
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

        @Test func `a reader below the lowest rate is cut off, however steady (H178)`()
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

        @Test func `a broadcast to slow readers is held once (H144)`() async throws {
            let (lines, sent) = (Lines(), Counter())
            let service = TestService { _ in
                let handler = TestHandler(opened: { line in lines.add(line) })
                return Answer("", Upgrade(to: "test", handler: handler))
            }
            let grown = try await serving(service) { live in
                let clients = try (0..<50).map { _ in
                    let client = try live.connect()
                    client.receiveBuffer(16 << 10)
                    try client.send(.head("GET / HTTP/1.1"))
                    _ = try client.answer()
                    return client
                }
                let message = [UInt8](repeating: 1, count: 8 << 20)
                let before = try residentBytes()
                lines.each { line in
                    line.send(message)
                    sent.add(1)
                }
                try eventually { sent.value == 50 }
                try live.settle()
                let after = try residentBytes()
                for client in clients { client.vanish() }
                return after - before
            }
            #expect(grown < 100 << 20)
        }

        @Test func `a handler that receives no more stops its peer, and goes on later (H185)`()
            async throws
        {
            let (lines, received) = (Lines(), Counter())
            let content = [UInt8](repeating: 1, count: 20_000_000)
            let service = TestService { _ in
                let handler = TestHandler(
                    opened: { line in
                        line.isReading = false
                        lines.add(line)
                    },
                    received: { line, bytes in
                        received.add(bytes.count)
                        if received.value == content.count { line.finish() }
                    })
                return Answer("", Upgrade(to: "test", handler: handler))
            }
            let sent = try await serving(service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1"))
                _ = try client.answer()
                let sent = client.sendUntilBlocked(content)
                #expect(received.value == 0)
                lines.each { line in line.isReading = true }
                try client.send(Array(content[sent...]))
                #expect(try client.rest().isEmpty)
                return sent
            }
            #expect(sent < content.count)
            #expect(received.value == content.count)
        }
    }
}
