/// A notification without a message was handed over; for those who push.
public struct NotificationSent: Equatable, Sendable {
    /// To whom, in the order of naming.
    public let recipients: [UserID]
    /// The notification as it came, JSON.
    public let notification: [UInt8]
    /// The key that recognises a repeat for 24 h.
    public let key: Replay.Key?
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        recipients: [UserID], notification: [UInt8], key: Replay.Key?, at moment: Timestamp
    ) {
        self.recipients = recipients
        self.notification = notification
        self.key = key
        at = moment
    }
}
