import Dispatch
import Logging
import SystemSupport
import Testing

@testable import Telemetry

@Suite struct `The log's sink` {
    @Test func `writes lines in the order they came, many at once`() {
        let written = Locked<[UInt8]>([])
        let sink = LogSink(clock: { 0 }) { lines in
            written.withLock { written in written += lines }
            return true
        }
        for number in 0..<100 { sink.write(line(number)) }
        #expect(sink.flush(within: .seconds(60)))
        let lines = written.withLock { written in written }
        #expect(lines == (0..<100).flatMap { number in line(number).bytes })
    }

    @Test func `H209 drops and counts lines while its output is blocked, without waiting for it`() {
        let written = Locked<[UInt8]>([])
        let entered = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        let sink = LogSink(capacity: 256, gathering: .milliseconds(0), clock: { 0 }) { lines in
            entered.signal()
            gate.wait()
            written.withLock { written in written += lines }
            return true
        }
        sink.write(line(0))
        entered.wait()
        // The output blocks now; a few lines fit, the rest is dropped.
        for number in 1...50 { sink.write(line(number)) }
        for _ in 0..<3 { gate.signal() }
        #expect(sink.flush(within: .seconds(60)))
        let text = String(decoding: written.withLock { written in written }, as: UTF8.self)
        #expect(
            text.contains("\"message\":\"log lines dropped: the output was blocked\",\"dropped\":"))
        #expect(text.split(separator: "\n").count < 10)
    }

    @Test func `H209 stops flushing if its output stays blocked`() {
        let gate = DispatchSemaphore(value: 0)
        let sink = LogSink(gathering: .milliseconds(0)) { _ in
            gate.wait()
            return true
        }
        sink.write(line(0))
        #expect(!sink.flush(within: .milliseconds(1)))
        gate.signal()
    }

    @Test func `H209 reports suppressed lines once a period`() {
        let limit = LogRateLimiter(lines: 2)
        let verdicts = [0, 1, 2, 3, 1000, 1001].map { now in limit.decide(now: now) }
        #expect(
            verdicts == [
                .write(suppressed: 0), .write(suppressed: 0), .suppress, .suppress,
                .write(suppressed: 2), .write(suppressed: 0),
            ])
    }

    @Test func `H209 a clock set back starts a period, and suppresses nothing`() {
        let limit = LogRateLimiter(lines: 1)
        let verdicts = [86_400_000, 86_400_001, 5, 6].map { now in limit.decide(now: now) }
        #expect(
            verdicts == [
                .write(suppressed: 0), .suppress, .write(suppressed: 1), .suppress,
            ])
    }

    @Test func `writes each swift-log entry as one object`() {
        let written = Locked<[UInt8]>([])
        let sink = LogSink { lines in
            written.withLock { written in written += lines }
            return true
        }
        var logger = Logger(label: "parley.test") { label in
            JSONLogHandler(
                label: label, threshold: LogThreshold(.info), sink: sink, clock: { 0 })
        }
        logger[metadataKey: "part"] = "uploads"
        logger.debug("not shown")
        logger.warning("disk \"full\"", metadata: ["token": "s3cret", "message": "twice"])
        #expect(sink.flush(within: .seconds(60)))
        #expect(
            String(decoding: written.withLock { written in written }, as: UTF8.self)
                == #"{"time":"1970-01-01T00:00:00.000Z","level":"warning","label":"parley.test","message":"disk \"full\"","message_":"twice","part":"uploads","token":"[hidden]"}"#
                + "\n")
    }

    private func line(_ number: Int) -> LogLine {
        var line = LogLine(at: 0, level: "info")
        line.number("number", Int64(number))
        line.end()
        return line
    }
}
