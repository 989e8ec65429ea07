public import Messaging
import SQL

extension MessagingStore {
    /// The number of deliveries deleted in one transaction, so that other changes are not delayed.
    private static let batchSize = 1000

    /// Deletes the deliveries that ended before a moment, and those of deleted webhooks.
    public func trimDeliveries(before moment: Timestamp) async throws {
        for application in try await applications() {
            for webhook in try await droppedWebhooks(of: application.id) {
                while try await deleteBatch(of: webhook, in: application.id) {
                    try Task.checkCancellation()
                }
            }
            for webhook in try await allWebhooks(of: application.id) {
                for state in [WebhookDelivery.State.delivered, .dead] {
                    while try await trimBatch(
                        of: webhook, in: state, before: moment, of: application.id)
                    {
                        try Task.checkCancellation()
                    }
                }
            }
        }
    }

    private func droppedWebhooks(of application: Application.ID) async throws -> [Webhook.ID] {
        try await database.read { transaction in
            try transaction.rows(
                "SELECT webhook FROM dropped_webhooks WHERE application = \(application)"
            ) { row in try row.id(0) }
        }
    }

    private func allWebhooks(of application: Application.ID) async throws -> [Webhook.ID] {
        try await database.read { transaction in
            try transaction.rows("SELECT id FROM webhooks WHERE application = \(application)") {
                row in try row.id(0)
            }
        }
    }

    /// Deletes the oldest deliveries of a deleted webhook.
    ///
    /// - Returns: Whether there may be more.
    private func deleteBatch(
        of webhook: Webhook.ID, in application: Application.ID
    ) async throws -> Bool {
        try await database.write { transaction in
            let numbers = try transaction.rows(
                .oldestDeliveries(of: webhook, limit: Self.batchSize, in: application)
            ) { row in try row.int64(0) }
            guard let last = numbers.last else {
                try transaction.execute(
                    """
                    DELETE FROM dropped_webhooks
                    WHERE application = \(application) AND webhook = \(webhook)
                    """)
                return false
            }
            try transaction.execute(
                """
                DELETE FROM deliveries
                WHERE application = \(application) AND webhook = \(webhook) AND number <= \(last)
                """)
            return true
        }
    }

    /// Deletes the oldest deliveries in one state that ended before a moment. They are examined in the order of creation,
    /// so one that ended late delays the deletion of those created after it.
    ///
    /// - Returns: Whether there may be more.
    private func trimBatch(
        of webhook: Webhook.ID, in state: WebhookDelivery.State, before moment: Timestamp,
        of application: Application.ID
    ) async throws -> Bool {
        try await database.write { transaction in
            let oldest = try transaction.rows(
                .oldestDeliveries(
                    of: webhook, in: state, limit: Self.batchSize, of: application)
            ) { row in (number: try row.int64(0), at: try row.timestamp(1)) }
            let old = oldest.prefix { delivery in delivery.at < moment }
            guard let last = old.last?.number else { return false }
            try transaction.execute(
                """
                DELETE FROM deliveries
                WHERE application = \(application) AND webhook = \(webhook)
                    AND state = \(state.rawValue) AND number <= \(last)
                """)
            return old.count == Self.batchSize
        }
    }
}

extension Transaction {
    /// Deletes what belongs to a deleted webhook; its deliveries are deleted later, a batch at a time.
    func deleteDeliveries(of webhook: Webhook.ID, in application: Application.ID) throws {
        for table in ["webhook_replays", "webhook_ranges", "former_secrets"] as [StaticString] {
            try execute(
                """
                DELETE FROM \(raw: table)
                WHERE application = \(application) AND webhook = \(webhook)
                """)
        }
        try execute(
            """
            INSERT INTO dropped_webhooks (application, webhook)
            VALUES (\(application), \(webhook)) ON CONFLICT (application, webhook) DO NOTHING
            """)
    }
}
