/// A message was deleted for all, and was this before (R29, webhooks §4.2).
public struct MessageRemoved: Equatable, Sendable {
    /// What a participant had made of it.
    public struct Recipient: Equatable, Sendable {
        /// The participant.
        public let user: UserID
        /// How far it had come to him.
        public let status: RecipientStatus

        /// What a participant had made of it.
        public init(user: UserID, status: RecipientStatus) {
            self.user = user
            self.status = status
        }
    }

    /// The message as it was last.
    public let message: Message
    /// One entry for each participant at sending time, in the order of naming (R71).
    public let recipients: [Recipient]
    /// When it was deleted.
    public let at: Timestamp

    /// What happened.
    public init(message: Message, recipients: [Recipient], at moment: Timestamp) {
        self.message = message
        self.recipients = recipients
        at = moment
    }
}
