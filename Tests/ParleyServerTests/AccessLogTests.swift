import Dispatch
import HTTP
import JSON
import Logging
import SystemSupport
import Telemetry
import Testing

@testable import HTTPTransport
@testable import ParleyServer

@Suite struct `The log line of a request` {
    @Test func `H206 has every member`() throws {
        var record = record()
        record.user = "ana"
        record.owner = RequestOwner(application: "7b2e", token: "0197")
        record.closing = "close"
        let line = try #require(try lines([record]).first)
        #expect(line["message"]?.string == "request")
        #expect(line["id"]?.string == record.id.description)
        #expect(line["method"]?.string == "GET")
        #expect(line["route"]?.string == "/apps/{app}/users/{user}/conversations")
        #expect(line["user"]?.string == "ana")
        #expect(line["application"]?.string == "7b2e")
        #expect(line["token_id"]?.string == "0197")
        #expect(line["status"]?.integer == 200)
        #expect(line["bytes_in"]?.integer == 120)
        #expect(line["bytes_out"]?.integer == 3400)
        #expect(line["duration_us"]?.integer == 1500)
        #expect(line["client"]?.string == record.peer.description)
        #expect(line["closing"]?.string == "close")
        #expect(line["time"]?.string?.hasSuffix("Z") == true)
    }

    @Test func `X5 names the trace it belongs to`() throws {
        var record = record()
        #expect(try lines([record]).first?["trace_id"] == nil)
        record.trace = TraceParent(
            Fields([("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")]))
        let line = try #require(try lines([record]).first)
        #expect(line["trace_id"]?.string == "0af7651916cd43dd8448eb211c80319c")
        #expect(line["parent_id"]?.string == "b7ad6b7169203331")
    }

    @Test func `H206 of a refused request has its rule, its length and its start`() throws {
        let head = "GET /a\u{1B}[2J?token=abc HTTP/9\r\nCookie: secret"
        let line = try #require(try lines([refused(head)]).first)
        #expect(line["message"]?.string == "request refused")
        #expect(line["status"]?.integer == 505)
        #expect(line["closing"]?.string == "H17")
        #expect(line["bytes_in"]?.integer == Int64(head.utf8.count))
        #expect(line["beginning"]?.string == "GET /a\u{1B}[2J?… HTTP/9")
    }

    @Test(arguments: [
        "ana\n{\"message\":\"forged\"}", "\",\"status\":500,\"x\":\"", "\u{1B}]0;title\u{7}",
        "a\u{2028}b\u{2029}c\u{9B}31m\u{7F}", "\\\\\\", "\u{1}\t",
    ]) func `H207 is one line and one object, whatever a client sends`(user: String) throws {
        var record = record()
        record.user = user
        let bytes = try bytes([record])
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.unicodeScalars.count { $0 == "\n" } == 1)
        #expect(
            !text.unicodeScalars.dropLast().contains { scalar in
                scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
                    || [0x2028, 0x2029].contains(scalar.value)
            })
        let line = try #require(try lines([record]).first)
        #expect(line["user"]?.string == user)
        #expect(line["status"]?.integer == 200)
    }

    @Test func `H207 has no value above one kibibyte`() throws {
        var record = record()
        record.user = String(repeating: "é", count: 5000)
        #expect(try bytes([record]).count < 1024 + 400)
    }

    @Test func `H209 is written for the first refused heads of a second, the rest is counted`()
        throws
    {
        let log = AccessLog(LogSink { _ in true }, level: .info)
        for _ in 0..<500 { log.write(refused("x")) }
        // One or two seconds may have passed.
        #expect(log.suppressedLines >= 200)
        #expect(log.suppressedLines <= 400)
        for _ in 0..<500 { log.write(record()) }
        #expect(log.suppressedLines <= 400)
    }

    @Test func `H206 is left out for health checks and scrapes above level debug`() throws {
        for route in ["/health/live", "/health/ready", "/metrics"] {
            var record = record()
            record.route = route
            #expect(try lines([record]).isEmpty)
            #expect(try lines([record], level: .debug).count == 1)
        }
    }

    private func record() -> RequestRecord {
        RequestRecord(
            id: RequestID(high: 1 << 60, low: 7), method: "GET",
            route: "/apps/{app}/users/{user}/conversations", status: 200, bytesIn: 120,
            bytesOut: 3400, duration: 1_500_999, peer: .unknown)
    }

    private func refused(_ head: String) -> RequestRecord {
        RequestRecord(
            id: RequestID(high: 0, low: 1), method: "", route: "", status: 505,
            bytesIn: Int64(head.utf8.count), bytesOut: 0, duration: 0, peer: .unknown,
            closing: "H17", headPrefix: Array(head.utf8))
    }

    private func bytes(
        _ records: [RequestRecord], level: Logger.Level = .info
    ) throws -> [UInt8] {
        let captured = CapturedLines()
        let sink = LogSink { lines in captured.add(lines) }
        let log = AccessLog(sink, level: level)
        for record in records { log.write(record) }
        #expect(sink.flush(within: .seconds(60)))
        return captured.bytes
    }

    private func lines(
        _ records: [RequestRecord], level: Logger.Level = .info
    ) throws -> [JSONValue] {
        try bytes(records, level: level).split(separator: 0x0A).map { line in
            try JSONDocument(Array(line)).root
        }
    }
}

/// The lines that a sink has written.
private final class CapturedLines: Sendable {
    private let state = Locked<[UInt8]>([])

    func add(_ lines: [UInt8]) -> Bool {
        state.withLock { bytes in bytes += lines }
        return true
    }

    var bytes: [UInt8] { state.withLock { bytes in bytes } }
}
