import COpenSSL
import Glibc
import HTTP
import HTTPTransport
import Synchronization
import TestSupport
import Testing

extension LiveServerTests {
    @Suite final class `TLS`: Sendable {
        nonisolated(unsafe) let authority = TestAuthority()

        static let request = String.head("GET /x HTTP/1.1")

        @Test func `requests are answered over TLS, with HSTS where it is configured (H125, H162)`()
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

        @Test func `without TLS no answer has HSTS (H125)`() async throws {
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

        @Test func `a request in records of one byte is answered (H172)`() async throws {
            try await servingSecurely(authority) { live in
                let client = try live.connectSecurely()
                for byte in Self.request.utf8 { try client.send([byte]) }
                #expect(try client.answer().status == 200)
            }
        }

        @Test func `16 MiB are echoed unchanged, in pieces of odd sizes`() async throws {
            let service = TestService { _ in
                Answer("echo", BodyPolicy(limit: 32 << 20)) { body in
                    await TestService.collected(body)
                }
            }
            try await servingSecurely(authority, service) { live in
                let client = try live.connectSecurely()
                let content = patternBytes(16 << 20)
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
            let content = patternBytes((16 << 20) + 7)
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
                client.setReceiveBuffer(64 << 10)
                try client.send(.head("GET /file HTTP/1.1") + .head("GET /after HTTP/1.1"))
                #expect(try client.answer().content == Array(content[3...]))
                #expect(try client.answer().text == "/after")
            }
        }

        // MARK: Ends

        @Test func `close_notify is sent before the connection ends (H96, H170)`() async throws {
            try await servingSecurely(authority) { live in
                let client = try live.connectSecurely()
                try client.send(.head("GET / HTTP/1.1", "Connection: close"))
                #expect(try client.answer().status == 200)
                #expect(try client.receive() == [])
                #expect(client.hasCloseNotify)
            }
        }

        @Test func `close_notify after a whole request ends one side only (H83)`() async throws {
            let gate = Gate()
            let service = TestService { _ in TestService.later("late") { await gate.pass() } }
            try await servingSecurely(authority, service) { live in
                let client = try live.connectSecurely()
                try client.send(Self.request)
                client.sendCloseNotify()
                gate.open()
                #expect(try client.answer().text == "late")
            }
        }

        @Test(arguments: [true, false])
        func `a truncated body is H51, with close_notify or without (H170)`(
            sendsCloseNotify: Bool
        ) async throws {
            try await servingSecurely(authority) { live in
                let client = try live.connectSecurely()
                try client.send(.head("POST / HTTP/1.1", "Content-Length: 10") + "half")
                if sendsCloseNotify { client.sendCloseNotify() } else { client.finishSending() }
                let reply = try client.answer()
                #expect(reply.status == 400)
                #expect(try client.receive() == [])
            }
        }

        @Test func `a forged record ends its own connection with an alert (H191)`()
            async throws
        {
            try await servingSecurely(authority) { live in
                let other = try live.connectSecurely()
                let client = try live.connectSecurely()
                let forged: [UInt8] = [23, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32)
                _ = forged.withUnsafeBytes { bytes in
                    Glibc.send(client.descriptor, bytes.baseAddress, bytes.count, 0)
                }
                #expect(try client.receive() == [])
                try other.send(Self.request)
                #expect(try other.answer().status == 200)
            }
        }

        @Test func `shutdown finishes running requests, then sends close_notify (H194)`()
            async throws
        {
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
                Task { await live.server.drain(deadline: 60_000) }
                #expect(try idle.receive() == [])
                #expect(idle.hasCloseNotify)
                gate.open()
                let reply = try busy.answer()
                #expect(reply.text == "late" && reply["Connection"] == "close")
                #expect(try busy.receive() == [])
            }
        }
    }
}
