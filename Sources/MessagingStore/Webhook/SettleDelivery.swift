public import Messaging
import SQL

/// The outcome of sending a delivery.
public enum DeliveryOutcome: Equatable, Sendable {
    /// The receiver accepted the delivery with this status code.
    case taken(status: Int64)
    /// The attempt failed. The next one is due at a time; `nil` when the delivery is not retried.
    case failed(WebhookDelivery.Answer, again: Timestamp?)
    /// The receiver answered 410: the webhook is deactivated.
    case gone
}

/// An attempt to send a delivery, as it is stored.
public struct SentAttempt: Sendable {
    /// The attempt.
    let attempt: WebhookDelivery.Attempt
    /// The headers of the request.
    let headers: [(name: String, value: String)]

    /// Both members.
    public init(
        _ attempt: WebhookDelivery.Attempt, headers: [(name: String, value: String)]
    ) {
        self.attempt = attempt
        self.headers = headers
    }
}

/// The effects of a recorded outcome.
public struct DeliverySettlement: Equatable, Sendable {
    /// The new state of the delivery; `nil` when it was deleted, or had already ended.
    public var state: WebhookDelivery.State?
    /// Why its webhook was deactivated by this outcome; `nil` when it was not.
    public var deactivation: String?
}

extension MessagingStore {
    /// The number of last deliveries that the percentage of dead ones is computed from.
    static let sampleSize = 100
    /// The number of deliveries below which no percentage is computed.
    fileprivate static let minimumSample = 10

    /// Records the outcome of sending a delivery. If the delivery has ended, the next one of its lane becomes due.
    ///
    /// - Parameters:
    ///   - attempt: What was sent and received.
    ///   - share: The maximum percentage of dead deliveries; above it, the webhook is deactivated. Of the last
    ///     hundred deliveries that have ended, those of events since the webhook became active count, if they are at
    ///     least ten.
    public func settle(
        _ delivery: DueDelivery, of webhook: Webhook.ID, _ outcome: DeliveryOutcome,
        after attempt: SentAttempt, deadShare share: Int, in application: Application.ID
    ) async throws -> DeliverySettlement {
        try await change(in: application) { context in
            let (transaction, now) = (context.transaction, context.now)
            guard let found = try transaction.delivery(delivery.id, of: webhook, in: application),
                found.delivery.state == .pending
            else { return DeliverySettlement() }
            var log = found.delivery.log ?? WebhookDelivery.Log()
            log.add(attempt.attempt, headers: attempt.headers)
            try transaction.execute(
                """
                UPDATE deliveries SET log = \(log.encoded)
                WHERE application = \(application) AND webhook = \(webhook)
                    AND number = \(delivery.number)
                """)
            switch outcome {
            case .taken(let status):
                try transaction.end(
                    delivery.number, of: webhook, as: .delivered,
                    .init(status: status, failure: nil), at: now, in: application)
                try transaction.promoteNext(found.lane, of: webhook, at: now, in: application)
                return DeliverySettlement(state: .delivered)
            case .failed(let answer, let again?):
                // After a merge it may no longer be the first of its lane; then it has no due time.
                try transaction.execute(
                    """
                    UPDATE deliveries
                    SET attempts = attempts + 1, status = \(answer.status),
                        failure = \(answer.failure),
                        next_at = CASE WHEN next_at IS NULL THEN next_at ELSE \(again) END
                    WHERE application = \(application) AND webhook = \(webhook)
                        AND number = \(delivery.number)
                    """)
                return DeliverySettlement(state: .pending)
            case .failed(let answer, nil):
                return try context.markDead(
                    delivery.number, of: found.lane, of: webhook, answer, above: share)
            case .gone:
                return try context.markDead(
                    delivery.number, of: found.lane, of: webhook,
                    .init(status: 410, failure: "410 Gone"), above: nil)
            }
        }
    }
}

extension MutationContext {
    /// Marks a delivery as dead, and deactivates its webhook if necessary.
    ///
    /// - Parameter share: The maximum percentage of dead deliveries; `nil` to deactivate the webhook at once.
    fileprivate func markDead(
        _ number: Int64, of lane: [UInt8], of webhook: Webhook.ID,
        _ answer: WebhookDelivery.Answer, above share: Int?
    ) throws -> DeliverySettlement {
        try transaction.end(number, of: webhook, as: .dead, answer, at: now, in: application)
        try transaction.promoteNext(lane, of: webhook, at: now, in: application)
        if let share, try transaction.deadPercentage(of: webhook, in: application) ?? 0 <= share {
            return DeliverySettlement(state: .dead)
        }
        let reason = "Delivery failed: \(answer.failure ?? "-")"
        let isDeactivated = try deactivate(webhook, because: reason)
        return DeliverySettlement(state: .dead, deactivation: isDeactivated ? reason : nil)
    }
}

extension Transaction {
    fileprivate func end(
        _ number: Int64, of webhook: Webhook.ID, as state: WebhookDelivery.State,
        _ answer: WebhookDelivery.Answer, at now: Timestamp, in application: Application.ID
    ) throws {
        try execute(
            """
            UPDATE deliveries
            SET state = \(state.rawValue), attempts = attempts + 1, next_at = NULL,
                finished_at = \(now), status = \(answer.status), failure = \(answer.failure)
            WHERE application = \(application) AND webhook = \(webhook) AND number = \(number)
            """)
    }

    /// The percentage of dead deliveries; `nil` when too few count, or the webhook is not active.
    fileprivate func deadPercentage(of webhook: Webhook.ID, in application: Application.ID) throws
        -> Int?
    {
        guard case .active(let since)? = try self.webhook(webhook, in: application)?.status else {
            return nil
        }
        let dead = try lastEnded(.dead, of: webhook, in: application)
        let delivered = try lastEnded(.delivered, of: webhook, in: application)
        let all = (dead.map { ($0, true) } + delivered.map { ($0, false) })
            .sorted { one, other in one.0.number > other.0.number }
            .prefix(MessagingStore.sampleSize)
            .filter { over, _ in over.position > since }
        guard all.count >= MessagingStore.minimumSample else { return nil }
        return all.count { _, isDead in isDead } * 100 / all.count
    }

    private func lastEnded(
        _ state: WebhookDelivery.State, of webhook: Webhook.ID, in application: Application.ID
    ) throws -> [(number: Int64, position: LogPosition)] {
        try rows(
            .lastDeliveries(
                of: webhook, in: state, limit: MessagingStore.sampleSize, of: application)
        ) { row in
            // A test has no position, and position 0 does not count.
            (try row.int64(0), LogPosition(try row.optionalInt64(1) ?? 0))
        }
    }
}
