import Messaging
import SQL

extension Projection {
    /// Names the recipients and remembers the key; those that nobody will ask for again go.
    func notify(_ sent: NotificationSent) throws {
        for user in sent.recipients { try nameAsRecipient(user, ofAnnouncements: 0) }
        let past = Timestamp(
            milliseconds: sent.at.milliseconds - PushNotification.keyLifetime)
        try transaction.execute(
            """
            DELETE FROM notification_keys
            WHERE application = \(application) AND sent_at <= \(past)
            """)
        guard let key = sent.key else { return }
        try transaction.execute(
            """
            INSERT INTO notification_keys (application, replay_key, sent_at)
            VALUES (\(application), \(key), \(sent.at))
            """)
    }
}
