import Logging
import Telemetry

/// The log of this process: one sink for all loggers and for the access log.
struct Log: Sendable {
    let sink: LogSink
    let threshold: LogThreshold

    /// A log to the standard error.
    init(level: Logger.Level) {
        sink = LogSink(descriptor: 2)
        threshold = LogThreshold(level)
    }

    /// A logger for a part of the program. Handed down, never global: tests have their own.
    func logger(_ label: String) -> Logger {
        Logger(label: label) { [sink, threshold] label in
            JSONLogHandler(label: label, threshold: threshold, sink: sink)
        }
    }
}
