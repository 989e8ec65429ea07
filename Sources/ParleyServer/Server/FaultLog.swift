import HTTP
import Logging
import Messaging
import PlatformAPI
import SQL
import Telemetry

/// Logs server faults, each once, and classifies them for the API's answer.
struct FaultLog: Sendable {
    let logger: Logger
    let readiness: Readiness

    func note(_ error: any Error, of request: RequestID) -> PlatformAPI.FaultKind {
        log("request failed", error, ["request": "\(request)"])
        guard let error = error as? SQLError else { return .unexpected }
        switch error.kind {
        // Each is temporary, or passes once an operator has repaired the disk or the database
        // server. After `uncertain` the client retries with an idempotency key (X2).
        case .diskFull, .locked, .closed, .inputOutput, .unreachable, .uncertain, .collided,
            .timedOut:
            return .unavailable
        default: return .unexpected
        }
    }

    /// Logs why an export failed or, without an id, why exports could not be read.
    func note(_ error: any Error, of export: Export.ID?) {
        log("export failed", error, ["export": "\(export.map(\.uuid) ?? "-")"])
    }

    /// Logs a fault of an erasure; without an id, of the lease or of the list of due erasures. It is retried.
    func note(_ error: any Error, of erasure: Erasure.ID?) {
        log("erasure interrupted", error, ["erasure": "\(erasure.map(\.uuid) ?? "-")"])
    }

    /// Logs a fault of webhook delivery; it is retried.
    func noteDelivery(_ error: any Error) {
        log("webhooks not served", error)
    }

    /// Logs that a webhook was deactivated, and why; without the target's query, which may hold a
    /// secret.
    func noteDeactivation(_ webhook: Webhook.ID, _ target: String, _ reason: String) {
        logger.warning(
            "webhook deactivated",
            metadata: [
                "webhook": "\(webhook.uuid)", "target": "\(target.prefix { $0 != "?" })",
                "reason": "\(reason)",
            ])
    }

    /// Logs why old events could not be deleted; it is retried.
    func noteTrimming(_ error: any Error) {
        log("old events not deleted", error)
    }

    /// Logs why a scheduled message was not sent or, without an id, why scheduled messages could
    /// not be read; it is retried.
    func note(_ error: any Error, of message: Message.ID?) {
        log("scheduled message not sent", error, ["message": "\(message.map(\.uuid) ?? "-")"])
    }

    /// Logs a fault and, the first time one shows a damaged database, what to do about it.
    private func log(
        _ message: Logger.Message, _ error: any Error, _ metadata: Logger.Metadata = [:]
    ) {
        logger.error(message, metadata: metadata.merging(["cause": "\(error)"]) { $1 })
        guard let error = error as? SQLError, [.corrupt, .notADatabase].contains(error.kind),
            readiness.end(.damaged)
        else { return }
        logger.critical("the database \(CommandFailure.reason(error))")
    }
}

/// The process's log: one sink for all loggers and the access log.
struct ServerLog: Sendable {
    let sink: LogSink
    let threshold: LogThreshold

    /// Creates a log that writes to standard error.
    init(level: Logger.Level) {
        sink = LogSink(descriptor: 2)
        threshold = LogThreshold(level)
    }

    /// Creates a logger for a part of the program. It is passed down, never global, so that tests
    /// have their own.
    func logger(_ label: String) -> Logger {
        Logger(label: label) { [sink, threshold] label in
            JSONLogHandler(label: label, threshold: threshold, sink: sink)
        }
    }
}
