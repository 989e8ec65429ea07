import HTTP
import HTTPTransport
import Testing

extension Live {
    @Suite struct `What observers are told` {
        @Test func `every request is reported once, with its octets and its end (H206)`()
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
            #expect(all.map(\.beginning) == [[], [], [], Array("bad\u{0}".utf8)])
            #expect(all.map(\.octetsIn) == requests.map { request in Int64(request.utf8.count) })
            #expect(
                all.reduce(0) { sum, record in sum + record.octetsOut } == Int64(text.utf8.count))
            #expect(all.allSatisfy { record in record.duration >= 0 })
            #expect(Set(all.map(\.id)).count == 4)
        }

        @Test func `no more than the beginning of a refused head is kept (H206)`() async throws {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let target = String(repeating: "a", count: 200)
            _ = try await serving(observer: Recorder(sink: sink)) { live in
                try live.exchange("GET /\(target) HTTP/9\r\n")
            }
            sink.finish()
            let kept = await records.reduce(into: [Int]()) { all, record in
                all.append(record.beginning.count)
            }
            #expect(kept == [RequestRecord.beginningLimit])
        }

        @Test func `the user a service names is in the record (H206)`() async throws {
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

        @Test func `a request whose peer went away is reported without a status (H85, H206)`()
            async throws
        {
            let (records, sink) = AsyncStream.makeStream(of: RequestRecord.self)
            let gate = Gate()
            let service = TestService { _ in TestService.later("x") { await gate.pass() } }
            try await serving(service, observer: Recorder(sink: sink)) { live in
                let client = try live.connect()
                try client.send(.head("GET /a HTTP/1.1"))
                try live.settle()
                client.vanish()
                while live.server.connectionCount > 0 { try live.settle() }
                gate.open()
            }
            sink.finish()
            let lost = await records.reduce(into: [String]()) { all, record in
                if record.status == 0 { all.append(record.closing ?? "") }
            }
            #expect(lost == ["reset"])
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
