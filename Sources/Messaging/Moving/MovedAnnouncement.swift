/// An announcement with what its recipients have made of it.
public struct MovedAnnouncement: Equatable, Sendable {
    /// One recipient's copy.
    public struct Recipient: Equatable, Sendable {
        /// The recipient.
        public let user: UserID
        /// What he has made of it.
        public let status: RecipientStatus
        /// When he deleted his copy; `nil` while he has it.
        public let deletedAt: Timestamp?

        /// A recipient's copy.
        public init(_ user: UserID, status: RecipientStatus, deletedAt: Timestamp? = nil) {
            self.user = user
            self.status = status
            self.deletedAt = deletedAt
        }
    }

    /// The announcement.
    public let announcement: Announcement
    /// To whom, in the order of naming.
    public let recipients: [Recipient]

    /// An announcement as stored.
    public init(_ announcement: Announcement, recipients: [Recipient]) {
        self.announcement = announcement
        self.recipients = recipients
    }
}
