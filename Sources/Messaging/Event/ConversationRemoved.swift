/// A conversation was deleted for all, and was this before (R18, webhooks §4.2).
public struct ConversationRemoved: Equatable, Sendable {
    /// The conversation as it was last, participants included.
    public let conversation: Conversation
    /// When it was deleted.
    public let at: Timestamp

    /// What happened.
    public init(conversation: Conversation, at moment: Timestamp) {
        self.conversation = conversation
        at = moment
    }
}
