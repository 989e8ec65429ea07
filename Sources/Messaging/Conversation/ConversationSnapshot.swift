/// A conversation with everything that its JSON shows.
public struct ConversationSnapshot: Equatable, Sendable {
    /// The conversation; for a request with an alias, the conversation that the alias names (X1.2).
    public let conversation: Conversation
    /// The current participants in the order in which they were named.
    public let participants: [BasicIdentity]

    /// All members.
    public init(conversation: Conversation, participants: [BasicIdentity]) {
        self.conversation = conversation
        self.participants = participants
    }
}
