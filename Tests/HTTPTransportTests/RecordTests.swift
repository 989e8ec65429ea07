import HTTP
import HTTPTransport
import Testing

extension LiveServerTests {
    @Suite struct `Records of requests` {
        @Test func `every request is reported once, with its bytes and its outcome (H206)`()
            async throws
        {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let requests = [
                String.head("GET /a HTTP/1.1"),
                .head("PUT /b HTTP/1.1", "Content-Length: 3") + "abc",
                .head("FOO / HTTP/1.1"), "bad\u{0}",
            ]
            let text = try await serving(observer: Recorder(sink: sink)) { live in
                try live.exchange(requests.joined())
            }
            sink.finish()
            let all = await records.reduce(into: [RequestRecord]()) { all, record in
                all.append(record)
            }
            #expect(all.map(\.status) == [200, 200, 501, 400])
            #expect(all.map(\.method) == ["GET", "PUT", "", ""])
            #expect(all.map(\.route) == ["echo", "echo", "", ""])
            #expect(all.map(\.closing) == [nil, nil, nil, "H12"])
            #expect(all.map(\.headPrefix) == [[], [], [], Array("bad\u{0}".utf8)])
            #expect(all.map(\.bytesIn) == requests.map { request in Int64(request.utf8.count) })
            #expect(
                all.reduce(0) { sum, record in sum + record.bytesOut } == Int64(text.utf8.count))
            #expect(all.allSatisfy { record in record.duration >= 0 })
            #expect(Set(all.map(\.id)).count == 4)
        }

        @Test func `only the beginning of a refused head is recorded (H206)`() async throws {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let target = String(repeating: "a", count: 200)
            _ = try await serving(observer: Recorder(sink: sink)) { live in
                try live.exchange("GET /\(target) HTTP/9\r\n")
            }
            sink.finish()
            let kept = await records.reduce(into: [Int]()) { all, record in
                all.append(record.headPrefix.count)
            }
            #expect(kept == [RequestRecord.headPrefixLimit])
        }

        @Test func `a record has the user that the service names (H206)`() async throws {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let service = TestService { _ in
                var answer = Answer("r", Response(.noContent))
                answer.user = "ana"
                return answer
            }
            _ = try await serving(service, observer: Recorder(sink: sink)) { live in
                try live.exchange(.head("GET /a HTTP/1.1"))
            }
            sink.finish()
            let users = await records.reduce(into: [String?]()) { all, record in
                all.append(record.user)
            }
            #expect(users == ["ana"])
        }

        @Test(arguments: [("127.0.0.1", true), ("10.0.0.1", false)])
        func `only a trusted proxy chooses the trace (X5, H198)`(
            proxies: String, isTrusted: Bool
        ) async throws {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let line = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            _ = try await serving(
                observer: Recorder(sink: sink),
                with: { limits in
                    limits.trust.proxies = [AddressBlock(proxies)].compactMap { block in block }
                }
            ) { live in
                try live.exchange(
                    .head("GET /a HTTP/1.1", line) + .head("GET /b HTTP/1.1")
                        + .head("GET /c HTTP/1.1", line, line)
                        + .head("GET /d HTTP/1.1", "traceparent: 00-none-01"))
            }
            sink.finish()
            let traces = await records.reduce(into: [TraceParent?]()) { all, record in
                all.append(record.trace)
            }
            #expect(traces.count == 4)
            #expect(traces.dropFirst().allSatisfy { trace in trace == nil })
            #expect((traces.first??.traceID == "0af7651916cd43dd8448eb211c80319c") == isTrusted)
            #expect((traces.first??.parentID == "b7ad6b7169203331") == isTrusted)
        }

        @Test func `a request whose peer disconnected is reported without a status (H85, H206)`()
            async throws
        {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let gate = Gate()
            let service = TestService { _ in TestService.later("x") { await gate.pass() } }
            try await serving(service, observer: Recorder(sink: sink)) { live in
                let client = try live.connect()
                try client.send(.head("GET /a HTTP/1.1"))
                try live.settle()
                client.reset()
                while live.server.connectionCount > 0 { try live.settle() }
                gate.open()
            }
            sink.finish()
            let lost = await records.reduce(into: [String]()) { all, record in
                if record.status == 0 { all.append(record.closing ?? "") }
            }
            #expect(lost == ["reset"])
        }

        @Test func `a stream is reported at its end, with all its bytes (H206)`() async throws {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let service = TestService { _ in
                let handler = TestHandler(
                    opened: { channel in channel.setDeadline(channel.milliseconds + 300) },
                    deadline: { channel in
                        channel.send([UInt8](repeating: 1, count: 1000))
                        channel.finish()
                    })
                return Answer("stream", Response(.ok, content: .stream(handler)))
            }
            let text = try await serving(service, observer: Recorder(sink: sink)) { live in
                try live.exchange(.head("GET /a HTTP/1.1"))
            }
            sink.finish()
            let all = await records.reduce(into: [RequestRecord]()) { all, record in
                all.append(record)
            }
            #expect(all.map(\.status) == [200])
            #expect(all.map(\.bytesOut) == [Int64(text.utf8.count)])
            // The loop counts whole milliseconds.
            #expect(all.allSatisfy { record in record.duration > 299_000_000 })
        }

        @Test func `another protocol is reported at its end, with bytes of both sides (H206)`()
            async throws
        {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let service = TestService { _ in
                let handler = TestHandler(received: { channel, bytes in
                    channel.send(bytes + bytes)
                    if bytes.last == 0x2E { channel.finish() }
                })
                return Answer("up", Upgrade(to: "test", handler: handler))
            }
            let request = String.head("GET /a HTTP/1.1")
            let text = try await serving(service, observer: Recorder(sink: sink)) { live in
                let client = try live.connect()
                try client.send(request + "hello.")
                return try client.rest()
            }
            sink.finish()
            let all = await records.reduce(into: [RequestRecord]()) { all, record in
                all.append(record)
            }
            #expect(all.map(\.status) == [101])
            #expect(all.map(\.bytesIn) == [Int64(request.utf8.count) + 6])
            #expect(all.map(\.bytesOut) == [Int64(text.utf8.count)])
        }

        @Test func `a stream whose peer disconnected is reported with the bytes sent (H85, H206)`()
            async throws
        {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let service = TestService { _ in
                let handler = TestHandler(opened: { channel in channel.send([1, 2, 3]) })
                return Answer("", Response(.ok, content: .stream(handler)))
            }
            try await serving(service, observer: Recorder(sink: sink)) { live in
                let client = try live.connect()
                try client.send(.head("GET /a HTTP/1.1"))
                _ = try client.receive()
                client.reset()
                try eventually { live.server.connectionCount == 0 }
            }
            sink.finish()
            let all = await records.reduce(into: [RequestRecord]()) { all, record in
                all.append(record)
            }
            #expect(all.map(\.closing) == ["reset"])
            #expect(all.allSatisfy { record in record.bytesOut > 100 })
        }

        @Test func `a dropped answer is reported once`() async throws {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let service = TestService { _ in Answer("r") { _ in .dropped } }
            _ = try await serving(service, observer: Recorder(sink: sink)) { live in
                try live.exchange(.head("GET /a HTTP/1.1"))
            }
            sink.finish()
            let all = await records.reduce(into: [RequestRecord]()) { all, record in
                all.append(record)
            }
            #expect(all.map(\.closing) == ["dropped"])
        }
    }
}

private final class Recorder: RequestObserver {
    let sink: AsyncStream<RequestRecord>.Continuation

    init(sink: AsyncStream<RequestRecord>.Continuation) { self.sink = sink }

    func finished(_ record: RequestRecord) { sink.yield(record) }
}
