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
