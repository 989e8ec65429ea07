/// A user deleted one message for himself (R29).
public struct MessageHidden: Equatable, Sendable {
    /// The message.
    public let message: Message.ID
    /// Its conversation.
    public let conversation: Conversation.ID
    /// Its place there.
    public let position: Position
    /// Whose view it is gone from.
    public let user: UserID
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        message: Message.ID, conversation: Conversation.ID, position: Position, user: UserID,
        at moment: Timestamp
    ) {
        self.message = message
        self.conversation = conversation
        self.position = position
        self.user = user
        at = moment
    }
}
