import HTTP
import HTTPTransport
import Testing

extension Live {
    @Suite struct `Contents of unknown length` {
        @Test func `HTTP 1.1 gets chunks, and the next answer behind them (H88, H116)`()
            async throws
        {
            let text = try await serving(counting) { live in
                try live.exchange(.head("GET /stream HTTP/1.1") + .head("GET /next HTTP/1.1"))
            }
            let parts = text.split(separator: "\r\n\r\n", maxSplits: 1)
            #expect(parts[0].contains("\r\nTransfer-Encoding: chunked"))
            #expect(!parts[0].contains("Content-Length"))
            #expect(
                parts[1].hasPrefix("3\r\none\r\nb\r\ntwo & three\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(parts[1].hasSuffix("\r\n\r\n/next"))
        }

        @Test func `HTTP 1.0 gets the bare octets, then the end (H90)`() async throws {
            let text = try await serving(counting) { live in
                try live.exchange(.head("GET /stream HTTP/1.0", "Connection: keep-alive"))
            }
            #expect(text.contains("\r\nConnection: close\r\n"))
            #expect(!text.contains("Transfer-Encoding"))
            #expect(text.hasSuffix("\r\n\r\nonetwo & three"))
        }

        @Test func `HEAD waits for no stream (H68, H89)`() async throws {
            let text = try await serving(counting) { live in
                try live.exchange(.head("HEAD /stream HTTP/1.1") + .head("GET /next HTTP/1.1"))
            }
            #expect(text.hasSuffix("\r\n\r\n/next"))
            #expect(!text.contains("one"))
        }
    }
}

/// `/stream` sends a word at once and three more a moment later; everything else echoes.
private let counting = TestService { request in
    guard request.target.path == "/stream" else { return TestService.echo(request) }
    let handler = TestHandler(
        opened: { line in
            line.send(Array("one".utf8))
            line.setDeadline(line.milliseconds + 1)
        },
        deadline: { line in
            line.send(Array("two".utf8))
            line.send(Array(" & ".utf8))
            line.send(Array("three".utf8))
            line.finish()
        })
    return Answer("stream", Response(.ok, content: .stream(handler)))
}
