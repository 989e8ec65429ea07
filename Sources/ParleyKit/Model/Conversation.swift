public import FoundationEssentials

/// A conversation as this device shows it: what the server last sent, with the user's own pending changes.
public struct Conversation: Queryable, Hashable {
    /// The id; after a merge that of the conversation that remains.
    public let id: ID
    /// The ids of conversations that were merged into this one.
    public let formerIDs: Set<ID>
    /// The participants, this user included; empty for a former participant.
    public let participants: [Identity]
    /// Whether the user is a participant; a former one can read only.
    public let isParticipant: Bool
    /// Whether it is the one conversation of exactly these participants.
    public let isDistinct: Bool
    /// The metadata; always a ``Metadata/object(_:)``.
    public let metadata: Metadata
    /// When the server created it; `nil` before.
    public let createdAt: Date?
    /// The last message on this device; `nil` if there is none.
    public let lastMessage: Message?
    /// Messages that the user has not read, those that are not on this device included.
    public let unreadCount: Int
    /// All messages that the user can see.
    public let totalCount: Int
    /// Whether the server has the conversation.
    public let isCreated: Bool

    /// Whether there is an unread message.
    public var hasUnreadMessages: Bool { unreadCount > 0 }
}

/// The options of a new conversation.
public struct ConversationOptions: Sendable {
    /// Whether it is the one conversation of its participants; the server returns that one if it exists.
    public var isDistinct: Bool
    /// The initial metadata; `nil` for none, and to accept whatever an existing distinct conversation has.
    public var metadata: Metadata?
    /// The id; `nil` for a new one.
    public var id: Conversation.ID?

    /// Options; the default is a distinct conversation without metadata.
    public init(isDistinct: Bool = true, metadata: Metadata? = nil, id: Conversation.ID? = nil) {
        self.isDistinct = isDistinct
        self.metadata = metadata
        self.id = id
    }
}

/// What a deletion affects.
public enum DeletionMode: String, Codable, Sendable {
    /// The devices of this user.
    case myDevices = "my_devices"
    /// The devices of all participants.
    case allParticipants = "all_participants"
}
