public import Messaging

/// An announcement as the system sees it.
public struct AnnouncementSnapshot: Equatable, Sendable {
    /// The announcement.
    public let announcement: Announcement
    /// What is known of the sender; `nil` for a service that has only a name.
    public let sender: BasicIdentity?
    /// To whom, in the order of naming.
    public let recipients: [UserID]
}

/// An announcement as one of its recipients sees it: nothing of the others (R100).
public struct AnnouncementView: Equatable, Sendable {
    /// The announcement.
    public let announcement: Announcement
    /// What is known of the sender; `nil` for a service that has only a name.
    public let sender: BasicIdentity?
    /// What this recipient has made of it.
    public let status: RecipientStatus
}
