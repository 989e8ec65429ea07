import Logging
import Telemetry

/// The log of this process: one sink for all loggers and for the access log.
struct Log: Sendable {
    let sink: LogSink
    let level: Logger.Level

    /// A log to the standard error.
    init(level: Logger.Level) {
        sink = LogSink(descriptor: 2)
        self.level = level
    }

    /// A logger for a part of the program. Handed down, never global: tests have their own.
    func logger(_ label: String) -> Logger {
        Logger(label: label) { [sink, level] label in
            JSONLogHandler(label: label, level: level, sink: sink)
        }
    }
}
