public import JSON
public import Messaging

/// The body of `POST …/notifications` (platform-api §5.6).
public enum PushNotificationJSON {
    /// Reads a draft: `recipients`, then `notification`, both required.
    ///
    /// - Parameter body: An object; members it does not know are ignored.
    public static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> PushNotification.Draft {
        let recipients = try RecipientsJSON.read(body, version)
        guard let notification = try NotificationJSON.read(body) else {
            throw .missing("notification")
        }
        return try PushNotification.Draft(recipients: recipients, notification: notification)
    }
}
