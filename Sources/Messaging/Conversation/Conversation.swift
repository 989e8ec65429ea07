/// Users who exchange messages, with metadata they share.
public struct Conversation: Equatable, Sendable {
    /// Names one conversation.
    public typealias ID = Identifier<Conversation>

    /// Its name for ever.
    public let id: ID
    /// When it was made.
    public let createdAt: Timestamp
    /// Who takes part now, in the order of naming.
    public var participants: Participants
    /// Whether it is the one conversation of exactly these participants (R3).
    public var isDistinct: Bool
    /// The tree all participants share.
    public var metadata: Metadata
    /// Whether all participants see it, or only its creator (R50).
    public var isAnnounced: Bool
    /// When it was deleted for all; `nil` while it lives.
    public var deletedAt: Timestamp?
    /// The place of the last message ever sent, deleted ones included.
    public var lastPosition: Position
    /// When that message was sent.
    public var lastSentAt: Timestamp?
    /// How many messages there are, deleted ones not counted.
    public var messageCount: Int64
    /// Rises with participants, distinctness and metadata; from one (X4).
    public var version: Int64

    /// A conversation as stored.
    public init(
        id: ID, createdAt: Timestamp, participants: Participants, isDistinct: Bool,
        metadata: Metadata, isAnnounced: Bool = true, deletedAt: Timestamp? = nil,
        lastPosition: Position = .start, lastSentAt: Timestamp? = nil, messageCount: Int64 = 0,
        version: Int64 = 1
    ) {
        self.id = id
        self.createdAt = createdAt
        self.participants = participants
        self.isDistinct = isDistinct
        self.metadata = metadata
        self.isAnnounced = isAnnounced
        self.deletedAt = deletedAt
        self.lastPosition = lastPosition
        self.lastSentAt = lastSentAt
        self.messageCount = messageCount
        self.version = version
    }
}
