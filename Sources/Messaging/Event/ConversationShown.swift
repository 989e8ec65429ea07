/// A conversation came into the view of some users, before any message did it (R51–R53).
public struct ConversationShown: Equatable, Sendable {
    /// The conversation.
    public let conversation: Conversation.ID
    /// Who sees it from now on: its creator, or who asked for a distinct one that was there.
    public let users: [UserID]
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(conversation: Conversation.ID, users: [UserID], at moment: Timestamp) {
        self.conversation = conversation
        self.users = users
        at = moment
    }
}
