/// A conversation with everything that its JSON shows.
public struct ConversationSnapshot: Equatable, Sendable {
    /// The conversation; for a request with an alias, the conversation that the alias names (X1.2).
    public let conversation: Conversation
    /// Its current participants in the order of naming.
    public let participants: [BasicIdentity]

    /// All members.
    public init(conversation: Conversation, participants: [BasicIdentity]) {
        self.conversation = conversation
        self.participants = participants
    }
}
