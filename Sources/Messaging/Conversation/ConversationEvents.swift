/// A conversation was made.
public struct ConversationCreated: Equatable, Sendable {
    /// The conversation as it was made.
    public let conversation: Conversation
    /// The key under which the creation is replayed.
    public let key: Replay.Key?

    /// What happened.
    public init(conversation: Conversation, key: Replay.Key? = nil) {
        self.conversation = conversation
        self.key = key
    }
}

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

/// A conversation came into the view of some users, before any message did it (R51–R53).
public struct ConversationShown: Equatable, Sendable {
    /// The conversation.
    public let conversation: Conversation.ID
    /// Who sees it from now on: its creator, or who asked for a distinct one that was there.
    public let users: [UserID]
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(conversation: Conversation.ID, users: [UserID], at moment: Timestamp) {
        self.conversation = conversation
        self.users = users
        at = moment
    }
}

/// A user deleted a conversation for himself, or left it (R16, R17).
public struct ConversationHidden: Equatable, Sendable {
    /// The conversation.
    public let conversation: Conversation.ID
    /// Whose view it is.
    public let user: UserID
    /// He never sees messages up to here again; `nil` when he left, which takes nothing away from
    /// him should he be added again (rulings 15).
    public let upTo: Position?
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        conversation: Conversation.ID, user: UserID, upTo place: Position?, at moment: Timestamp
    ) {
        self.conversation = conversation
        self.user = user
        upTo = place
        at = moment
    }
}

/// The participant set of a conversation changed.
public struct ParticipantsChanged: Equatable, Sendable {
    /// The conversation.
    public let conversation: Conversation.ID
    /// Who takes part now, in order.
    public let participants: Participants
    /// Who was not among them before.
    public let added: [UserID]
    /// Who is no more.
    public let removed: [UserID]
    /// The last message before the change.
    public let after: Position
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        conversation: Conversation.ID, participants: Participants, added: [UserID],
        removed: [UserID], after: Position, at moment: Timestamp
    ) {
        self.conversation = conversation
        self.participants = participants
        self.added = added
        self.removed = removed
        self.after = after
        at = moment
    }
}

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

/// A distinct conversation took in others of the same participants, or came into its order (X1.5).
public struct ConversationMerged: Equatable, Sendable {
    /// What a participant sees of it after that.
    public struct View: Equatable, Sendable {
        /// The participant.
        public let user: UserID
        /// What he sees and has made of it.
        public let view: MergeableView

        /// A participant's view.
        public init(_ user: UserID, _ view: MergeableView) {
            self.user = user
            self.view = view
        }
    }

    /// The one whose id stays; from now on the one distinct conversation of its participants.
    public let winner: Conversation.ID
    /// The one that is no more; `nil` when only messages were put in order, or nobody was there yet.
    public let loser: Conversation.ID?
    /// Every id that leads to the winner since, in the order of their bytes: the loser's and its aliases.
    public let aliases: [Conversation.ID]
    /// The winner's metadata after it.
    public let metadata: Metadata
    /// Whether all participants see it.
    public let isAnnounced: Bool
    /// The last place ever given.
    public let lastPosition: Position
    /// Where all messages stand now: the winner's and then the loser's, the lowest former place first.
    public let relocations: [Relocation]
    /// All participants' views, in the order of their names' bytes.
    public let views: [View]
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        winner: Conversation.ID, loser: Conversation.ID?, aliases: [Conversation.ID],
        metadata: Metadata, isAnnounced: Bool, lastPosition: Position, relocations: [Relocation],
        views: [View], at moment: Timestamp
    ) {
        self.winner = winner
        self.loser = loser
        self.aliases = aliases
        self.metadata = metadata
        self.isAnnounced = isAnnounced
        self.lastPosition = lastPosition
        self.relocations = relocations
        self.views = views
        at = moment
    }
}

/// A conversation was deleted for all, and was this before (R18, webhooks §4.2).
public struct ConversationRemoved: Equatable, Sendable {
    /// The conversation as it was last, participants included.
    public let conversation: Conversation
    /// When it was deleted.
    public let at: Timestamp

    /// What happened.
    public init(conversation: Conversation, at moment: Timestamp) {
        self.conversation = conversation
        at = moment
    }
}
