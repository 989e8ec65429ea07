/// A conversation as one user sees it (R12–R15).
public struct ConversationView: Equatable, Sendable {
    /// The conversation.
    public let id: Conversation.ID
    /// The moment of creation.
    public let createdAt: Timestamp
    /// The current participants; empty for a former participant (R14); the first of a wide conversation
    /// (ruling 38).
    public let participants: [BasicIdentity]
    /// The number of current participants; 0 for a former participant.
    public let participantCount: Int
    /// Whether it is the one conversation of exactly these participants.
    public let isDistinct: Bool
    /// The metadata; for a former participant, as of their removal (R14).
    public let metadata: MetadataTree
    /// The visible message with the highest position (R27); `nil` if there is none.
    public let lastMessage: MessageSnapshot?
    /// The number of visible, unread messages of others, without history before the user joined (R12).
    public let unreadCount: Int64
    /// The number of visible messages (ruling 17).
    public let totalCount: Int64
    /// Whether the user is a former participant.
    public let isFormer: Bool
    /// The conversation's version (X4).
    public let version: Int64

    /// All members.
    public init(
        id: Conversation.ID, createdAt: Timestamp, participants: [BasicIdentity],
        participantCount: Int, isDistinct: Bool, metadata: MetadataTree,
        lastMessage: MessageSnapshot?, unreadCount: Int64,
        totalCount: Int64, isFormer: Bool, version: Int64
    ) {
        self.id = id
        self.createdAt = createdAt
        self.participants = participants
        self.participantCount = participantCount
        self.isDistinct = isDistinct
        self.metadata = metadata
        self.lastMessage = lastMessage
        self.unreadCount = unreadCount
        self.totalCount = totalCount
        self.isFormer = isFormer
        self.version = version
    }
}
