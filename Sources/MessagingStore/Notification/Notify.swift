public import Messaging
import SQL

extension MessagingStore {
    /// Hands a notification over, to the log: whoever pushes reads it there (platform-api §5.6).
    ///
    /// A key that was used in the last 24 h hands over nothing.
    public func notify(
        _ draft: PushNotification.Draft, key: Replay.Key? = nil, in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            if let key, try recording.hasNotified(with: key) { return }
            try recording.record(
                .notificationSent(
                    NotificationSent(
                        recipients: draft.recipients, notification: draft.notification, key: key,
                        at: recording.now)))
        }
    }
}

extension Recording {
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
