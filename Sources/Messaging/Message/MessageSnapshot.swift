/// A message with everything that its JSON shows.
public struct MessageSnapshot: Equatable, Sendable {
    /// The message.
    public let message: Message
    /// The identity of the sender; `nil` for a service that has only a name.
    public let sender: BasicIdentity?
    /// The participants at the time of sending, in the order in which they were named (R71).
    public let recipients: [Recipient]
    /// Whether the viewing user has not read it; `nil` for the system.
    public let isUnread: Bool?
    /// The moment when it reached the viewing user, which is the moment of sending; `nil` for a message sent before
    /// they joined, and for the system.
    public let receivedAt: Timestamp?

    /// All members.
    public init(
        message: Message, sender: BasicIdentity?, recipients: [Recipient], isUnread: Bool?,
        receivedAt: Timestamp?
    ) {
        self.message = message
        self.sender = sender
        self.recipients = recipients
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
