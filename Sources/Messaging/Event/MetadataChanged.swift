/// Keys of a conversation's metadata were written.
public struct MetadataChanged: Equatable, Sendable {
    /// The conversation.
    public let conversation: Conversation.ID
    /// The effective writes, to be merged into what was there (R48).
    public let writes: Metadata
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(conversation: Conversation.ID, writes: Metadata, at moment: Timestamp) {
        self.conversation = conversation
        self.writes = writes
        at = moment
    }
}
