public import Messaging
import SQL

// What the one who reads the log for webhooks asks and tells.
extension MessagingStore {
    /// How far the log of an application was read for its webhooks; `nil` before anybody did.
    public func webhookPlace(in application: Application.ID) async throws -> TellingPlace? {
        try await database.read { transaction in try transaction.webhookPlace(in: application) }
    }

    /// Remembers deliveries together with how far the log was read for them: both or neither.
    ///
    /// - Parameters:
    ///   - start: Where the reading began; `nil` where nobody had read.
    ///   - webhooks: For whom was read, as ``toldWebhooks(in:)`` had them.
    /// - Returns: False, and nothing is remembered, when somebody else has read on, or when another
    ///   webhook, or another stretch, is to be told by now.
    public func enqueue(
        _ drafts: [DeliveryDraft], from start: TellingPlace?, to end: TellingPlace,
        for webhooks: [ToldWebhook], in application: Application.ID
    ) async throws -> Bool {
        try await database.write { [environment] transaction in
            guard try transaction.webhookPlace(in: application) == start,
                try transaction.toldWebhooks(in: application) == webhooks
            else { return false }
            try transaction.execute(
                """
                INSERT INTO webhook_readers (application, after_position, within_position)
                VALUES (\(application), \(end.after), \(end.within))
                ON CONFLICT (application) DO UPDATE
                SET after_position = excluded.after_position,
                    within_position = excluded.within_position
                """)
            try transaction.dropStretches(through: end.after, in: application)
            try transaction.add(
                drafts, at: environment.now(), in: application, newID: environment.newID)
            return true
        }
    }

    /// What may be sent to a webhook now: nothing unless it is active, and signed as it is now. Who sends
    /// hears of changes later than of what was recorded behind them.
    ///
    /// - Parameter taken: Numbers of those that are being sent.
    public func dueDeliveries(
        of webhook: Webhook.ID, besides taken: [Int64], limit: Int, in application: Application.ID
    ) async throws -> DueDeliveries {
        let now = environment.now()
        return try await database.read { transaction in
            guard let known = try transaction.webhook(webhook, in: application),
                case .active = known.status
            else {
                return DueDeliveries(
                    webhook: nil, former: nil, items: [], isCut: false, nextAt: nil)
            }
            let found = try transaction.stretch(
                .dueDeliveries(of: webhook, besides: taken, at: now, limit: limit, in: application)
            ) { row in
                Int64(try row.blob(7).count)
            } _: { row in
                DueDelivery(
                    number: try row.int64(0), id: try row.id(1), event: try row.id(2),
                    type: try row.text(3), attempts: try row.int64(4),
                    askedAt: try row.timestamp(5), trace: try row.optionalTrace(6),
                    body: try row.blob(7))
            }
            let isCut = found.isCut || found.items.count == limit
            return DueDeliveries(
                webhook: known,
                former: try transaction.formerSecret(of: webhook, at: now, in: application),
                items: found.items, isCut: isCut,
                nextAt: isCut
                    ? nil : try transaction.nextDelivery(of: webhook, after: now, in: application))
        }
    }
}

extension Transaction {
    /// The same as ``MessagingStore/webhookPlace(in:)``.
    func webhookPlace(in application: Application.ID) throws -> TellingPlace? {
        try first(
            """
            SELECT after_position, within_position FROM webhook_readers
            WHERE application = \(application)
            """
        ) { row in
            TellingPlace(after: LogPosition(try row.int64(0)), within: try row.position(1))
        }
    }

    fileprivate func nextDelivery(
        of webhook: Webhook.ID, after now: Timestamp, in application: Application.ID
    ) throws -> Timestamp? {
        try first(.nextDelivery(of: webhook, after: now, in: application)) { row in
            try row.timestamp(0)
        }
    }
}
