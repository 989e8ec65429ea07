/// A distinct conversation with all that merging looks at (X1).
public struct ConversationCopy: Equatable, Sendable {
    /// A message and where it stands.
    public struct Place: Equatable, Sendable {
        /// The message.
        public let message: Message.ID
        /// When it was sent.
        public let sentAt: Timestamp
        /// Its place.
        public let position: Position

        /// A message as stored.
        public init(_ message: Message.ID, sentAt: Timestamp, position: Position) {
            self.message = message
            self.sentAt = sentAt
            self.position = position
        }
    }

    /// Its name.
    public let id: Conversation.ID
    /// When it was made.
    public let createdAt: Timestamp
    /// The ids that lead to it (X1.2).
    public let aliases: Set<Conversation.ID>
    /// Its metadata with the time of every write.
    public let metadata: Metadata
    /// Whether all participants see it (R50).
    public let isAnnounced: Bool
    /// The last place ever given.
    public let lastPosition: Position
    /// Its messages in the order of their places.
    public let places: [Place]
    /// What each participant sees of it.
    public let views: [UserID: ViewCopy]

    /// A conversation as stored.
    public init(
        id: Conversation.ID, createdAt: Timestamp, aliases: Set<Conversation.ID> = [],
        metadata: Metadata = Metadata(), isAnnounced: Bool = true,
        lastPosition: Position = .start, places: [Place] = [], views: [UserID: ViewCopy] = [:]
    ) {
        self.id = id
        self.createdAt = createdAt
        self.aliases = aliases
        self.metadata = metadata
        self.isAnnounced = isAnnounced
        self.lastPosition = lastPosition
        self.places = places
        self.views = views
    }

    /// Whether this one's id stays: the one made earlier, else the smaller id, bytewise (X1.1).
    func wins(against other: ConversationCopy) -> Bool {
        (createdAt, id) <= (other.createdAt, other.id)
    }
}
