import Messaging
import SQL

// What is asked of the deliveries, in one place: each of them has to read an index and sort nothing, however
// many there are, and a test asks whether it does.
extension SQL {
    /// What may be sent now.
    static func dueDeliveries(
        of webhook: Webhook.ID, besides taken: [Int64], at now: Timestamp, limit: Int,
        in application: Application.ID
    ) -> SQL {
        """
        SELECT number, id, event, type, attempts, asked_at, trace, body FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) AND next_at <= \(now)
            AND number NOT IN (\(few: taken.isEmpty ? [-1] : taken))
        ORDER BY next_at, number LIMIT \(limit)
        """
    }

    /// When the next one is due that is not yet.
    static func nextDelivery(
        of webhook: Webhook.ID, after now: Timestamp, in application: Application.ID
    ) -> SQL {
        """
        SELECT next_at FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) AND next_at > \(now)
        ORDER BY next_at LIMIT 1
        """
    }

    /// The highest number there is.
    static func lastDelivery(of webhook: Webhook.ID, in application: Application.ID) -> SQL {
        """
        SELECT number FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook)
        ORDER BY number DESC LIMIT 1
        """
    }

    /// The first deliveries of those lanes that have one.
    static func firstDeliveries(
        among lanes: some Collection<[UInt8]>, of webhook: Webhook.ID,
        in application: Application.ID
    ) -> SQL {
        """
        SELECT number, lane FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook)
            AND lane IN (\(few: Array(lanes))) AND next_at IS NOT NULL
        """
    }

    /// The oldest of a lane that waits.
    static func nextOfLane(
        _ lane: [UInt8], of webhook: Webhook.ID, in application: Application.ID
    ) -> SQL {
        """
        SELECT number FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) AND lane = \(lane)
            AND state = 'pending'
        ORDER BY number LIMIT 1
        """
    }

    /// Puts what waits in the lane of a conversation into that of another one.
    static func joinedLane(
        of loser: Conversation.ID, into winner: Conversation.ID, of webhook: Webhook.ID,
        in application: Application.ID
    ) -> SQL {
        """
        UPDATE deliveries SET lane = \(winner)
        WHERE application = \(application) AND webhook = \(webhook) AND lane = \(loser)
            AND state = 'pending'
        """
    }

    /// A page, newest first.
    static func deliveries(
        of webhook: Webhook.ID, in state: WebhookDelivery.State?, before number: Int64, limit: Int,
        of application: Application.ID
    ) -> SQL {
        """
        SELECT \(raw: WebhookDelivery.columns) FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) \(being(state))
            AND number < \(number)
        ORDER BY number DESC LIMIT \(limit)
        """
    }

    /// How many there are.
    static func deliveryCount(
        of webhook: Webhook.ID, in state: WebhookDelivery.State?, of application: Application.ID
    ) -> SQL {
        """
        SELECT COUNT(*) FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) \(being(state))
        """
    }

    /// The newest in a state, and where they stand in the log.
    static func lastDeliveries(
        of webhook: Webhook.ID, in state: WebhookDelivery.State, limit: Int,
        of application: Application.ID
    ) -> SQL {
        """
        SELECT number, position FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) \(being(state))
        ORDER BY number DESC LIMIT \(limit)
        """
    }

    /// The oldest in a state, and when they were over.
    static func oldestDeliveries(
        of webhook: Webhook.ID, in state: WebhookDelivery.State, limit: Int,
        of application: Application.ID
    ) -> SQL {
        """
        SELECT number, finished_at FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook) \(being(state))
        ORDER BY number LIMIT \(limit)
        """
    }

    /// The oldest.
    static func oldestDeliveries(
        of webhook: Webhook.ID, limit: Int, in application: Application.ID
    ) -> SQL {
        """
        SELECT number FROM deliveries
        WHERE application = \(application) AND webhook = \(webhook)
        ORDER BY number LIMIT \(limit)
        """
    }

    /// Without a state its column is left out, as another index has the order then.
    private static func being(_ state: WebhookDelivery.State?) -> SQL {
        state.map { state -> SQL in "AND state = \(state.rawValue)" } ?? ""
    }
}
