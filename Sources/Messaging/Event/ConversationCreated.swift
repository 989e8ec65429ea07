/// A conversation was made.
public struct ConversationCreated: Equatable, Sendable {
    /// The conversation as it was made.
    public let conversation: Conversation
    /// The key under which the creation is replayed.
    public let key: Replay.Key?

    /// What happened.
    public init(conversation: Conversation, key: Replay.Key? = nil) {
        self.conversation = conversation
        self.key = key
    }
}
