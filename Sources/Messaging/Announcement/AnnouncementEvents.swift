/// An announcement was sent; one event for all recipients.
public struct AnnouncementSent: EventPayload {
    /// The announcement.
    public let announcement: Announcement
    /// The recipients in the order given.
    public let recipients: [UserID]
    /// The notification as received, JSON; `nil` for none.
    public let notification: [UInt8]?
    /// The `If-None-Match` key of the announcement; `nil` for none.
    public let key: Replay.Key?

    /// All members.
    public init(
        announcement: Announcement, recipients: [UserID], notification: [UInt8]? = nil,
        key: Replay.Key? = nil
    ) {
        self.announcement = announcement
        self.recipients = recipients
        self.notification = notification
        self.key = key
    }

    /// The type of the event.
    public var type: EventType { .announcementSent }

    /// The author of the change.
    public var author: EventActor? { EventActor(announcement.sender) }

    /// The users.
    public var namedUsers: [UserID] { recipients }
}

/// A recipient received or read an announcement for the first time (R72, R100).
public struct AnnouncementReceived: EventPayload {
    /// The announcement.
    public let announcement: Announcement.ID
    /// The recipient.
    public let user: UserID
    /// Whether it was received or read.
    public let kind: Receipts.Kind
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(announcement: Announcement.ID, user: UserID, kind: Receipts.Kind, at: Timestamp) {
        self.announcement = announcement
        self.user = user
        self.kind = kind
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .announcementReceived }

    /// The author of the change.
    public var author: EventActor? { .user(user) }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}

/// A recipient deleted their copy of an announcement.
public struct AnnouncementDeleted: EventPayload {
    /// The announcement.
    public let announcement: Announcement.ID
    /// The recipient.
    public let user: UserID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(announcement: Announcement.ID, user: UserID, at: Timestamp) {
        self.announcement = announcement
        self.user = user
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .announcementDeleted }

    /// The author of the change.
    public var author: EventActor? { .user(user) }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}

/// A notification without a message was sent.
public struct NotificationSent: EventPayload {
    /// The recipients in the order given.
    public let recipients: [UserID]
    /// The notification as received, JSON.
    public let notification: [UInt8]
    /// The key that detects a repeat within 24 h; `nil` for none.
    public let key: Replay.Key?
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(recipients: [UserID], notification: [UInt8], key: Replay.Key?, at: Timestamp) {
        self.recipients = recipients
        self.notification = notification
        self.key = key
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .notificationSent }

    /// The users.
    public var namedUsers: [UserID] { recipients }
}
