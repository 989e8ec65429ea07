import Messaging
import SQL

extension Projection {
    /// Names the recipients and remembers the key; of those that nobody will ask for again two go.
    ///
    /// So no notification waits for a great sweep, and what stays behind is taken over when it is used.
    func notify(_ sent: NotificationSent) throws {
        try nameAsRecipients(sent.recipients, ofAnnouncements: 0)
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
