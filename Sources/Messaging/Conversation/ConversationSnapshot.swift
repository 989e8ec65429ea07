/// A conversation with everything its JSON shows: nothing needs to be looked up.
public struct ConversationSnapshot: Equatable, Sendable {
    /// The conversation; for an alias, the one that it names (X1.2).
    public let conversation: Conversation
    /// Its current participants in the order of naming.
    public let participants: [BasicIdentity]

    /// All members.
    public init(conversation: Conversation, participants: [BasicIdentity]) {
        self.conversation = conversation
        self.participants = participants
    }
}
