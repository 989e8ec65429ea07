/// A distinct creation met its match; the conversation itself did not change.
public struct ConversationMatched: Equatable, Sendable {
    /// The match.
    public let conversation: Conversation.ID
    /// The key that answers with the match from now on (platform-api 1.9, rule 6).
    public let key: Replay.Key?
    /// The proposed id, an alias of the match for ever (X1.6).
    public let alias: Conversation.ID?

    /// What happened.
    public init(conversation: Conversation.ID, key: Replay.Key?, alias: Conversation.ID?) {
        self.conversation = conversation
        self.key = key
        self.alias = alias
    }
}
