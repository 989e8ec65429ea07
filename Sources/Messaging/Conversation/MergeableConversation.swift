/// A distinct conversation with all that merging looks at (X1).
public struct MergeableConversation: Equatable, Sendable {
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
    public let views: [UserID: MergeableView]

    /// A conversation as stored.
    public init(
        id: Conversation.ID, createdAt: Timestamp, aliases: Set<Conversation.ID> = [],
        metadata: Metadata = Metadata(), isAnnounced: Bool = true,
        lastPosition: Position = .start, places: [Place] = [], views: [UserID: MergeableView] = [:]
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
    func wins(against other: MergeableConversation) -> Bool {
        (createdAt, id) <= (other.createdAt, other.id)
    }
}

extension MergeableConversation {
    /// Both conversations in one (X1.1–X1.4).
    ///
    /// Deterministic, commutative, associative and idempotent in what anybody sees: who wins, its
    /// aliases, its metadata, the order of the messages, and of each the statuses and who does not see
    /// it. Only the numbers of places depend on the order in which conversations meet.
    ///
    /// What the winner had before the first message of the other keeps its place. From there on messages
    /// come by the time of sending, then by id, at new places behind the last, so that a place of the
    /// winner never means another message than it did.
    ///
    /// - Returns: The merged conversation, and where the messages of the winner and those of the other
    ///   went, each the lowest former place first.
    public func merging(
        _ other: MergeableConversation
    ) -> (copy: MergeableConversation, relocations: [Relocation]) {
        let (winner, loser) = wins(against: other) ? (self, other) : (other, self)
        let order = MessageOrder(of: winner, and: loser)
        let (mine, theirs, messages) = (order.ofWinner, order.ofLoser, order.messages)
        let views = winner.relocatedViews(mine)
            .merging(loser.relocatedViews(theirs)) { one, two in one.merging(two) }
        let copy = MergeableConversation(
            id: winner.id, createdAt: winner.createdAt,
            aliases: winner.aliases.union(loser.aliases).union([loser.id])
                .subtracting([winner.id]),
            metadata: winner.metadata.merging(loser.metadata),
            isAnnounced: winner.isAnnounced || loser.isAnnounced, lastPosition: order.lastPosition,
            places: order.places,
            views: views.mapValues { view in view.view(of: messages) })
        return (copy, mine + theirs)
    }

    /// The conversation alone, its messages in the order they have to have.
    public var inOrder: (copy: MergeableConversation, relocations: [Relocation]) {
        let order = MessageOrder(of: self, and: nil)
        let (relocations, messages) = (order.ofWinner, order.messages)
        let copy = MergeableConversation(
            id: id, createdAt: createdAt, aliases: aliases, metadata: metadata,
            isAnnounced: isAnnounced, lastPosition: order.lastPosition, places: order.places,
            views: relocatedViews(relocations).mapValues { view in view.view(of: messages) })
        return (copy, relocations)
    }

    /// - Parameter relocations: The lowest former place first.
    private func relocatedViews(_ relocations: [Relocation]) -> [UserID: RelocatedView] {
        views.mapValues { view in view.relocated(by: relocations) }
    }
}

/// What one participant sees of a conversation and has made of it, as merging looks at it (X1.3).
///
/// He has taken part from the beginning, as everybody has in a distinct conversation.
public struct MergeableView: Equatable, Sendable {
    /// Whether the conversation stands in his view.
    public let state: ViewState
    /// The last position he has deleted for himself together with all before it (R16).
    public let clearedTo: Position
    /// Single positions hidden from him behind that: deleted by him, or by a block (R29, R32).
    public let hidden: IntervalSet
    /// What he has received and read.
    public let receipts: Receipts

    /// A view as stored.
    public init(
        state: ViewState, clearedTo: Position = .start, hidden: IntervalSet = IntervalSet(),
        receipts: Receipts = Receipts()
    ) {
        self.state = state
        self.clearedTo = clearedTo
        self.hidden = hidden
        self.receipts = receipts
    }

    /// The positions up to which he has deleted.
    private var cleared: IntervalSet {
        clearedTo > .start ? IntervalSet(1...clearedTo.number) : IntervalSet()
    }

    /// The same view of the same messages where they stand now.
    ///
    /// What he has deleted up to a place may lie apart then, so it is named one by one.
    func relocated(by stretches: [Relocation]) -> RelocatedView {
        RelocatedView(
            state: state, cleared: cleared.relocated(by: stretches),
            hidden: hidden.relocated(by: stretches),
            receipts: Receipts(
                delivered: receipts.delivered.relocated(by: stretches),
                read: receipts.read.relocated(by: stretches)))
    }
}

/// A view on its way into a merged conversation: what is not seen of it, position by position.
struct RelocatedView {
    let state: ViewState
    let cleared: IntervalSet
    let hidden: IntervalSet
    let receipts: Receipts

    /// Both views in one: seen if it is in either, and of each message the higher status. What is
    /// deleted or hidden stays so.
    func merging(_ other: RelocatedView) -> RelocatedView {
        RelocatedView(
            state: max(state, other.state), cleared: cleared.union(other.cleared),
            hidden: hidden.union(other.hidden),
            receipts: Receipts(
                delivered: receipts.delivered.union(other.receipts.delivered),
                read: receipts.read.union(other.receipts.read)))
    }

    /// The view of a conversation whose messages stand at some positions.
    func view(of messages: IntervalSet) -> MergeableView {
        let unseen = cleared.union(hidden).intersection(messages)
        let first = messages.subtracting(unseen).intervals.first?.lowerBound ?? .max
        let head = cleared.intervals.prefix { interval in interval.lowerBound < first }
        let clearedTo = head.last.map { interval in min(interval.upperBound, first - 1) } ?? 0
        return MergeableView(
            state: state, clearedTo: Position(clearedTo),
            hidden: clearedTo > 0 ? unseen.subtracting(IntervalSet(1...clearedTo)) : unseen,
            receipts: receipts)
    }
}

extension ViewState: Comparable {
    /// What is seen in one of two merged conversations is seen; what he deleted he may write to.
    public static func < (left: ViewState, right: ViewState) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .left: 0
        case .unseen: 1
        case .cleared: 2
        case .shown: 3
        }
    }
}
