/// A distinct conversation took in others of the same participants, or came into its order (X1.5).
public struct ConversationMerged: Equatable, Sendable {
    /// What a participant sees of it after that.
    public struct View: Equatable, Sendable {
        /// The participant.
        public let user: UserID
        /// What he sees and has made of it.
        public let view: ViewCopy

        /// A participant's view.
        public init(_ user: UserID, _ view: ViewCopy) {
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
