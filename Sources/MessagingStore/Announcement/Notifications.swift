public import Messaging
import SQL

extension MessagingStore {
    /// Records a notification in the event log, from which push senders read it (platform-api §5.6).
    ///
    /// If the key was used in the last 24 hours, nothing is recorded.
    public func notify(
        _ draft: PushNotification.Draft, key: Replay.Key? = nil, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            if let key, try context.hasNotified(with: key) { return }
            try context.record(
                .notificationSent(
                    NotificationSent(
                        recipients: draft.recipients, notification: draft.notification, key: key,
                        at: context.now)))
        }
    }
}

extension MutationContext {
    /// Whether a key was used in the last 24 hours.
    fileprivate func hasNotified(with key: Replay.Key) throws -> Bool {
        let past = Timestamp(
            milliseconds: now.milliseconds - PushNotification.keyLifetime)
        return try transaction.first(
            """
            SELECT 1 FROM notification_keys
            WHERE application = \(application) AND replay_key = \(key) AND sent_at > \(past)
            """
        ) { _ in true } ?? false
    }
}

extension Projection {
    /// Creates the recipients, stores the key, and deletes up to two expired keys.
    ///
    /// Two, so that no notification waits for a large deletion. An expired key that is still stored can be used again.
    func notify(_ sent: NotificationSent) throws {
        try createRecipients(sent.recipients, ofAnnouncements: 0)
        let past = Timestamp(
            milliseconds: sent.at.milliseconds - PushNotification.keyLifetime)
        try transaction.execute(
            """
            DELETE FROM notification_keys
            WHERE application = \(application) AND replay_key IN (
                SELECT replay_key FROM notification_keys
                WHERE application = \(application) AND sent_at <= \(past)
                ORDER BY sent_at, replay_key LIMIT 2
            )
            """)
        guard let key = sent.key else { return }
        try transaction.execute(
            """
            INSERT INTO notification_keys (application, replay_key, sent_at)
            VALUES (\(application), \(key), \(sent.at))
            ON CONFLICT (application, replay_key) DO UPDATE SET sent_at = excluded.sent_at
            """)
    }
}
