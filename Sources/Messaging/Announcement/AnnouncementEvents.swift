/// An announcement was made; one copy of it, however many it is for.
public struct AnnouncementSent: Equatable, Sendable {
    /// The announcement.
    public let announcement: Announcement
    /// To whom, in the order of naming.
    public let recipients: [UserID]
    /// The notification as it came, JSON; for those who push.
    public let notification: [UInt8]?
    /// The key under which it is replayed.
    public let key: Replay.Key?

    /// What happened.
    public init(
        announcement: Announcement, recipients: [UserID], notification: [UInt8]? = nil,
        key: Replay.Key? = nil
    ) {
        self.announcement = announcement
        self.recipients = recipients
        self.notification = notification
        self.key = key
    }
}

/// A recipient received or read an announcement he had not yet (R72, R100).
public struct AnnouncementReceived: Equatable, Sendable {
    /// The announcement.
    public let announcement: Announcement.ID
    /// The recipient.
    public let user: UserID
    /// Received or read.
    public let kind: Receipts.Kind
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        announcement: Announcement.ID, user: UserID, kind: Receipts.Kind, at moment: Timestamp
    ) {
        self.announcement = announcement
        self.user = user
        self.kind = kind
        at = moment
    }
}

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
