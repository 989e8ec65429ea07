import HTTP
import Logging
import Messaging
import PlatformAPI
import SQL
import Telemetry

/// Logs faults of ours, once each, and says what they mean to a caller.
struct FaultLog: Sendable {
    let logger: Logger
    let readiness: Readiness

    func note(_ error: any Error, of request: RequestID) -> PlatformAPI.FaultKind {
        log("request failed", error, ["request": "\(request)"])
        guard let error = error as? SQLError else { return .unexpected }
        switch error.kind {
        // Each passes by itself, or once somebody has looked after the disk or the server. After
        // `uncertain` the caller asks again, with a key that keeps him from doing it twice (X2).
        case .diskFull, .locked, .closed, .inputOutput, .unreachable, .uncertain, .collided,
            .timedOut:
            return .unavailable
        default: return .unexpected
        }
    }

    /// Logs why an export could not be made, or, without one, why nobody could look for any.
    func note(_ error: any Error, of export: Export.ID?) {
        log("export failed", error, ["export": "\(export.map(\.uuid) ?? "-")"])
    }

    /// Logs why nothing was sent to webhooks; it is tried again.
    func noteDelivery(_ error: any Error) {
        log("webhooks not served", error)
    }

    /// Logs that a webhook is sent nothing any more, and why; of its target no query, which may hold a
    /// secret.
    func noteDeactivation(_ webhook: Webhook.ID, _ target: String, _ reason: String) {
        logger.warning(
            "webhook deactivated",
            metadata: [
                "webhook": "\(webhook.uuid)", "target": "\(target.prefix { $0 != "?" })",
                "reason": "\(reason)",
            ])
    }

    /// Logs why nobody could let go of old events; it is tried again.
    func noteTrimming(_ error: any Error) {
        log("old events not let go of", error)
    }

    /// Logs why a scheduled message was not sent, or, without one, why nobody could look for any; it is
    /// tried again.
    func note(_ error: any Error, of message: Message.ID?) {
        log("scheduled message not sent", error, ["message": "\(message.map(\.uuid) ?? "-")"])
    }

    /// Logs a fault, and once what is to be done where it shows that the database is damaged.
    private func log(
        _ message: Logger.Message, _ error: any Error, _ metadata: Logger.Metadata = [:]
    ) {
        logger.error(message, metadata: metadata.merging(["cause": "\(error)"]) { $1 })
        guard let error = error as? SQLError, [.corrupt, .notADatabase].contains(error.kind),
            readiness.end()
        else { return }
        logger.critical("the database \(CommandFailure.reason(error))")
    }
}

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
