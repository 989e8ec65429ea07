/// A message with everything that its JSON shows.
public struct MessageSnapshot: Equatable, Sendable {
    /// The message.
    public let message: Message
    /// The identity of the sender; `nil` for a service that has only a name.
    public let sender: BasicIdentity?
    /// The participants at the time of sending, in the order in which they were named (R71).
    public let recipients: [Recipient]
    /// In a wide conversation, instead of the recipients, their number in each status (ruling 38).
    public let recipientCounts: RecipientCounts?
    /// Whether the viewing user has not read it; `nil` for the system.
    public let isUnread: Bool?
    /// The moment when it reached the viewing user, which is the moment of sending; `nil` for a message sent before
    /// they joined, and for the system.
    public let receivedAt: Timestamp?

    /// All members.
    public init(
        message: Message, sender: BasicIdentity?, recipients: [Recipient],
        recipientCounts: RecipientCounts? = nil, isUnread: Bool?, receivedAt: Timestamp?
    ) {
        self.message = message
        self.sender = sender
        self.recipients = recipients
        self.recipientCounts = recipientCounts
        self.isUnread = isUnread
        self.receivedAt = receivedAt
    }

    /// A participant at the time of sending.
    public struct Recipient: Equatable, Sendable {
        /// The participant.
        public let userID: UserID
        /// The recipient's status; the sender has read it from the start.
        public let status: RecipientStatus

        /// All members.
        public init(userID: UserID, status: RecipientStatus) {
            self.userID = userID
            self.status = status
        }
    }
}

/// The number of recipients of a message with each status (ruling 38).
public struct RecipientCounts: Equatable, Sendable {
    /// Those that have neither received nor read it.
    public var sent: Int64
    /// Those that have received but not read it.
    public var delivered: Int64
    /// Those that have read it; the sender has from the start.
    public var read: Int64

    /// All members.
    public init(sent: Int64 = 0, delivered: Int64 = 0, read: Int64 = 0) {
        self.sent = sent
        self.delivered = delivered
        self.read = read
    }

    /// The counts of a message that was just sent: only its sender, if a participant, has read it (R71).
    public init(justSentTo participants: Int, includingSender: Bool) {
        let senders: Int64 = includingSender ? 1 : 0
        self.init(sent: Int64(participants) - senders, read: senders)
    }

    /// The number of recipients with a status.
    public subscript(status: RecipientStatus) -> Int64 {
        get {
            switch status {
            case .sent: sent
            case .delivered: delivered
            case .read: read
            }
        }
        set {
            switch status {
            case .sent: sent = newValue
            case .delivered: delivered = newValue
            case .read: read = newValue
            }
        }
    }
}
