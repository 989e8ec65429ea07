/// A conversation was created, and with it every user it names (R90).
public struct ConversationCreated: EventPayload {
    /// The conversation as created.
    public let conversation: Conversation
    /// The `If-None-Match` key of the creation; `nil` for none.
    public let key: Replay.Key?

    /// All members.
    public init(conversation: Conversation, key: Replay.Key? = nil) {
        self.conversation = conversation
        self.key = key
    }

    /// The type of the event.
    public var type: EventType { .conversationCreated }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation.id] }

    /// The users.
    public var namedUsers: [UserID] { conversation.participants.users }
}

/// A distinct creation found an existing conversation, which did not change.
public struct ConversationMatched: EventPayload {
    /// The existing conversation.
    public let conversation: Conversation.ID
    /// The key whose repeats are answered with the existing conversation (platform-api §1.9, rule 6).
    public let key: Replay.Key?
    /// The proposed id, a permanent alias of the existing conversation (X1.6).
    public let alias: Conversation.ID?

    /// All members.
    public init(conversation: Conversation.ID, key: Replay.Key?, alias: Conversation.ID?) {
        self.conversation = conversation
        self.key = key
        self.alias = alias
    }

    /// The type of the event.
    public var type: EventType { .conversationMatched }

    /// The conversation under all its ids.
    public var namedConversations: [Conversation.ID] {
        [conversation] + (alias.map { alias in [alias] } ?? [])
    }
}

/// A conversation became visible to some users without a message (R51–R53).
public struct ConversationShown: EventPayload {
    /// The conversation.
    public let conversation: Conversation.ID
    /// The users that see it from now on: its creator, or the user that requested an existing distinct conversation.
    public let users: [UserID]
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(conversation: Conversation.ID, users: [UserID], at: Timestamp) {
        self.conversation = conversation
        self.users = users
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .conversationShown }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }

    /// The users.
    public var namedUsers: [UserID] { users }
}

/// A conversation became visible to all participants without a message (R52).
public struct ConversationAnnounced: EventPayload {
    /// The conversation.
    public let conversation: Conversation.ID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(conversation: Conversation.ID, at: Timestamp) {
        self.conversation = conversation
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .conversationAnnounced }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }
}

/// A user deleted a conversation from their own view, or left it (R16, R17).
public struct ConversationHidden: EventPayload {
    /// The conversation.
    public let conversation: Conversation.ID
    /// The user.
    public let user: UserID
    /// The last message that the user never sees again; `nil` when the user left, because leaving deletes
    /// nothing if the user is added again (ruling 15).
    public let upTo: Position?
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(conversation: Conversation.ID, user: UserID, upTo: Position?, at: Timestamp) {
        self.conversation = conversation
        self.user = user
        self.upTo = upTo
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .conversationHidden }

    /// The author of the change.
    public var author: EventActor? { .user(user) }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}

/// The participants of a conversation changed.
public struct ParticipantsChanged: EventPayload {
    /// The conversation.
    public let conversation: Conversation.ID
    /// The participants after the change, in order.
    public let participants: Participants
    /// Whether the conversation is wide after the change (ruling 38).
    public let isWide: Bool
    /// The new participants.
    public let added: [UserID]
    /// The participants that were removed.
    public let removed: [UserID]
    /// The last message before the change.
    public let after: Position
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(
        conversation: Conversation.ID, participants: Participants, isWide: Bool = false,
        added: [UserID], removed: [UserID], after: Position, at: Timestamp
    ) {
        self.conversation = conversation
        self.participants = participants
        self.isWide = isWide
        self.added = added
        self.removed = removed
        self.after = after
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .participantsChanged }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }

    /// The users.
    public var namedUsers: [UserID] { added + removed }
}

/// Keys of a conversation's metadata were written.
public struct MetadataChanged: EventPayload {
    /// The conversation.
    public let conversation: Conversation.ID
    /// The effective writes, to be merged into the metadata (R48).
    public let writes: Metadata
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(conversation: Conversation.ID, writes: Metadata, at: Timestamp) {
        self.conversation = conversation
        self.writes = writes
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .metadataChanged }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }
}

/// Another distinct conversation of the same participants was merged into this one, or some of its messages were
/// sorted (X1.5).
public struct ConversationMerged: EventPayload {
    /// A participant's view of the conversation after the merge.
    public struct View: Equatable, Sendable {
        /// The participant.
        public let user: UserID
        /// The view.
        public let view: MergeableView

        /// Creates a view.
        public init(_ user: UserID, _ view: MergeableView) {
            self.user = user
            self.view = view
        }
    }

    /// The conversation that remains, and is now the distinct one of its participants.
    public let winner: Conversation.ID
    /// The conversation that was merged into the winner; `nil` if only messages were sorted.
    public let loser: Conversation.ID?
    /// All ids that name the winner from now on, sorted by bytes: the loser's and its aliases.
    public let aliases: [Conversation.ID]
    /// The winner's metadata after the merge.
    public let metadata: Metadata
    /// Whether all participants see it.
    public let isAnnounced: Bool
    /// The highest position ever assigned or reserved.
    public let lastPosition: Position
    /// Messages of the winner that were sent at this moment or later may not be in order yet; `nil` if all are.
    public let unsortedFrom: Timestamp?
    /// The new positions of all messages: first those of the winner, then those of the loser, each sorted by former
    /// position.
    public let relocations: [Relocation]
    /// The views of all participants, or of those whose view a sort changed, sorted by the bytes of the user id.
    public let views: [View]
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(
        winner: Conversation.ID, loser: Conversation.ID?, aliases: [Conversation.ID],
        metadata: Metadata, isAnnounced: Bool, lastPosition: Position, unsortedFrom: Timestamp?,
        relocations: [Relocation], views: [View], at: Timestamp
    ) {
        self.winner = winner
        self.loser = loser
        self.aliases = aliases
        self.metadata = metadata
        self.isAnnounced = isAnnounced
        self.lastPosition = lastPosition
        self.unsortedFrom = unsortedFrom
        self.relocations = relocations
        self.views = views
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .conversationMerged }

    /// The conversation under all its ids.
    public var namedConversations: [Conversation.ID] { [winner] + aliases }
}

/// A conversation was deleted for all (R18).
public struct ConversationDeleted: EventPayload {
    /// The conversation before its deletion, with its participants (webhooks §4.2).
    public let conversation: Conversation
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(conversation: Conversation, at: Timestamp) {
        self.conversation = conversation
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .conversationDeleted }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation.id] }

    /// The users.
    public var namedUsers: [UserID] { conversation.participants.users }
}
