import HTTP
import HTTPTransport
import Logging
import Telemetry

/// Writes one line per request (H206).
///
/// Called on the loops, so it makes one small array and hands it over. Nothing secret can get in: a
/// route's template stands for the path, and no field and no body is in the record.
final class AccessLog: Sendable {
    private let sink: LogSink
    /// From which level on lines are written.
    let level: LogThreshold
    private let refusals = RepetitionLimit(lines: 100)

    /// Makes a log, or one that writes nothing when the level is above info.
    init(_ sink: LogSink, level: Logger.Level) {
        self.sink = sink
        self.level = LogThreshold(level)
    }

    /// Lines that were counted instead of written.
    var suppressedLines: Int { refusals.suppressedCount }

    func write(_ record: RequestRecord) {
        // Health checks and scrapes come every few seconds and tell nothing.
        let isProbe =
            record.route.utf8.starts(with: "/health/".utf8)
            || record.route == MetricsDoor.path.description
        guard level.level <= (isProbe ? .debug : .info) else { return }
        let now = systemMilliseconds()
        var suppressed = 0
        if record.method.isEmpty || record.status == 0 {
            // Anybody can make these in masses, without a credential (H209).
            switch refusals.judge(now: now) {
            case .suppress: return
            case .write(let others): suppressed = others
            }
        }
        var line = LogLine(at: now, level: isProbe ? "debug" : "info")
        line.text("message", record.method.isEmpty ? "request refused" : "request")
        line.plain("id") { octets in record.id.append(to: &octets) }
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
        line.number("octets_in", record.octetsIn)
        line.number("octets_out", record.octetsOut)
        line.number("duration_us", record.duration / 1000)
        line.plain("client") { octets in record.peer.append(to: &octets) }
        if let closing = record.closing { line.text("closing", closing) }
        if !record.beginning.isEmpty {
            // The request line at most: the fields behind it hold credentials (H208).
            let first = record.beginning.prefix { octet in octet != 0x0D && octet != 0x0A }
            line.text("beginning", octets: Redaction.filtered(octets: Array(first)))
        }
        if suppressed > 0 { line.number("suppressed", Int64(suppressed)) }
        line.end()
        sink.write(line)
    }

    /// Writes what concerns the server as a whole; it comes seldom (H183, H209).
    func write(_ event: ServerEvent) {
        var line = LogLine(at: systemMilliseconds(), level: "warning")
        line.text("message", event.description)
        line.end()
        sink.write(line)
    }
}
