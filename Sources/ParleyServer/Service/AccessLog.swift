import HTTP
import HTTPTransport
import Logging
import Telemetry

/// Writes one log line per request (H206).
///
/// Called on the loops, so it only fills one small array and hands it over. A line holds no
/// secrets: it has the route's template instead of the path, and no headers or body.
final class AccessLog: Sendable {
    private let sink: LogSink
    /// The lowest level that is written.
    let level: LogThreshold
    private let refusals = LogRateLimiter(lines: 100)

    /// Creates a log; above level info it writes no requests.
    init(_ sink: LogSink, level: Logger.Level) {
        self.sink = sink
        self.level = LogThreshold(level)
    }

    /// The number of lines that were counted instead of written.
    var suppressedLines: Int { refusals.suppressedCount }

    func write(_ record: RequestRecord) {
        // Health checks and scrapes come every few seconds and have little information.
        let isProbe =
            record.route.utf8.starts(with: "/health/".utf8)
            || record.route == MetricsEndpoint.path.description
        guard level.level <= (isProbe ? .debug : .info) else { return }
        let now = systemMilliseconds()
        var suppressed = 0
        if record.method.isEmpty || record.status == 0 {
            // Any client can cause these in large numbers, without credentials (H209).
            switch refusals.decide(now: now) {
            case .suppress: return
            case .write(let others): suppressed = others
            }
        }
        var line = LogLine(at: now, level: isProbe ? "debug" : "info")
        line.text("message", record.method.isEmpty ? "request refused" : "request")
        line.plain("id") { bytes in record.id.append(to: &bytes) }
        if let trace = record.trace {
            line.text("trace_id", trace.traceID)
            line.text("parent_id", trace.parentID)
        }
        line.text("method", record.method)
        line.text("route", record.route)
        if let owner = record.owner {
            line.text("application", owner.application)
            line.text("token_id", owner.token)
        }
        if let user = record.user { line.text("user", user) }
        line.number("status", Int64(record.status))
        line.number("bytes_in", record.bytesIn)
        line.number("bytes_out", record.bytesOut)
        line.number("duration_us", record.duration / 1000)
        line.plain("client") { bytes in record.peer.append(to: &bytes) }
        if let closing = record.closing { line.text("closing", closing) }
        if !record.headPrefix.isEmpty {
            // At most the request line: the headers after it contain credentials (H208).
            let first = record.headPrefix.prefix { byte in byte != 0x0D && byte != 0x0A }
            line.text("beginning", bytes: Redaction.filtered(bytes: Array(first)))
        }
        if suppressed > 0 { line.number("suppressed", Int64(suppressed)) }
        line.end()
        sink.write(line)
    }

    /// Writes an event of the server as a whole; these are rare (H183, H209).
    func write(_ event: ServerEvent) {
        var line = LogLine(at: systemMilliseconds(), level: "warning")
        line.text("message", event.description)
        line.end()
        sink.write(line)
    }
}

/// Receives the transport's reports: counts each request and logs it.
final class ServerObserver: RequestObserver {
    private let metrics: RequestMetrics
    private let log: AccessLog

    init(_ metrics: RequestMetrics, _ log: AccessLog) {
        self.metrics = metrics
        self.log = log
    }

    func finished(_ record: RequestRecord) {
        metrics.count(record)
        log.write(record)
    }

    func noticed(_ event: ServerEvent) { log.write(event) }

    func finishedTurn(loop: Int, nanoseconds: Int64) {
        metrics.finishedTurn(loop: loop, nanoseconds: nanoseconds)
    }
}
