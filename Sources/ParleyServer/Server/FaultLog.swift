import HTTP
import Logging
import Messaging
import PlatformAPI
import SQL

/// Logs faults of ours, once each, and says what they mean to a caller.
struct FaultLog: Sendable {
    let logger: Logger

    func note(_ error: any Error, of request: RequestID) -> PlatformAPI.FaultKind {
        logger.error("request failed", metadata: ["request": "\(request)", "cause": "\(error)"])
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
        logger.error(
            "export failed",
            metadata: ["export": "\(export.map(\.uuid) ?? "-")", "cause": "\(error)"])
    }

    /// Logs why nothing was sent to webhooks; it is tried again.
    func noteDelivery(_ error: any Error) {
        logger.error("webhooks not served", metadata: ["cause": "\(error)"])
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
        logger.error("old events not let go of", metadata: ["cause": "\(error)"])
    }

    /// Logs why a scheduled message was not sent, or, without one, why nobody could look for any; it is
    /// tried again.
    func note(_ error: any Error, of message: Message.ID?) {
        logger.error(
            "scheduled message not sent",
            metadata: ["message": "\(message.map(\.uuid) ?? "-")", "cause": "\(error)"])
    }
}
