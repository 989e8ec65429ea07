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
