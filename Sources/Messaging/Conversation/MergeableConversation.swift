/// A distinct conversation with everything that merging needs (X1), without its messages.
public struct MergeableConversation: Equatable, Sendable {
    /// Its id.
    public let id: Conversation.ID
    /// The moment of creation.
    public let createdAt: Timestamp
    /// The aliases of the conversation (X1.2).
    public let aliases: Set<Conversation.ID>
    /// Its metadata with the time of every write.
    public let metadata: Metadata
    /// Whether all participants see it (R50).
    public let isAnnounced: Bool
    /// The highest position ever assigned.
    public let lastPosition: Position
    /// Positions that include those of all messages.
    public let occupied: IntervalSet
    /// The earliest time of a message; `nil` without messages.
    public let firstSentAt: Timestamp?
    /// Messages that were sent at this moment or later may not be in order yet; `nil` if all are.
    public let unsortedFrom: Timestamp?
    /// The view of each participant.
    public let views: [UserID: MergeableView]

    /// A conversation as stored.
    public init(
        id: Conversation.ID, createdAt: Timestamp, aliases: Set<Conversation.ID>,
        metadata: Metadata, isAnnounced: Bool, lastPosition: Position, occupied: IntervalSet,
        firstSentAt: Timestamp?, unsortedFrom: Timestamp?, views: [UserID: MergeableView]
    ) {
        self.id = id
        self.createdAt = createdAt
        self.aliases = aliases
        self.metadata = metadata
        self.isAnnounced = isAnnounced
        self.lastPosition = lastPosition
        self.occupied = occupied
        self.firstSentAt = firstSentAt
        self.unsortedFrom = unsortedFrom
        self.views = views
    }

    /// Whether this is the winner of a merge: the conversation that was created earlier, on a tie the one with the
    /// smaller id (X1.1).
    func wins(against other: MergeableConversation) -> Bool {
        (createdAt, id) <= (other.createdAt, other.id)
    }
}

extension MergeableConversation {
    /// Merges two conversations (X1.1–X1.4); a ``MessageSort`` then sorts their messages.
    ///
    /// With the sort, the merge is deterministic, commutative and associative in what users see: the winner, its aliases
    /// and metadata, the order of the messages, and for each message the statuses and its visibility. Only the position
    /// numbers depend on the order in which conversations are merged.
    ///
    /// The winner's messages keep their positions. Those of the other come after the last, at new positions, so that a
    /// position of the winner never names another message than before.
    ///
    /// - Returns: The merged conversation, and the new positions of the winner's and the other's messages,
    ///   each sorted by former position.
    public func merging(
        _ other: MergeableConversation
    ) -> (copy: MergeableConversation, relocations: [Relocation]) {
        let (winner, loser) = wins(against: other) ? (self, other) : (other, self)
        var end = winner.lastPosition.number
        let ofWinner = winner.occupied.intervals.map { interval in
            Relocation(conversation: winner.id, interval, to: interval.lowerBound)
        }
        let ofLoser = loser.occupied.intervals.map { interval in
            let relocation = Relocation(conversation: loser.id, interval, to: end + 1)
            end += interval.upperBound - interval.lowerBound + 1
            return relocation
        }
        let occupied =
            end > winner.lastPosition.number
            ? winner.occupied.union(IntervalSet((winner.lastPosition.number + 1)...end))
            : winner.occupied
        let views = winner.relocatedViews(ofWinner)
            .merging(loser.relocatedViews(ofLoser)) { one, two in one.merging(two) }
        let areBothUsed = !winner.occupied.isEmpty && !loser.occupied.isEmpty
        let copy = MergeableConversation(
            id: winner.id, createdAt: winner.createdAt,
            aliases: winner.aliases.union(loser.aliases).union([loser.id])
                .subtracting([winner.id]),
            metadata: winner.metadata.merging(loser.metadata),
            isAnnounced: winner.isAnnounced || loser.isAnnounced, lastPosition: Position(end),
            occupied: occupied,
            firstSentAt: [winner.firstSentAt, loser.firstSentAt].compactMap(\.self).min(),
            unsortedFrom: [
                winner.unsortedFrom, loser.unsortedFrom, areBothUsed ? loser.firstSentAt : nil,
            ].compactMap(\.self).min(),
            views: views.mapValues { view in view.view(of: occupied) })
        return (copy, ofWinner + ofLoser)
    }

    /// Returns the conversation after a step of the sort of its messages.
    public func sorted(by step: MessageSort.Step) -> MergeableConversation {
        let relocations = step.relocations
        return MergeableConversation(
            id: id, createdAt: createdAt, aliases: aliases, metadata: metadata,
            isAnnounced: isAnnounced, lastPosition: step.lastPosition, occupied: step.occupied,
            firstSentAt: firstSentAt, unsortedFrom: step.unsortedFrom,
            views: relocatedViews(relocations).mapValues { view in view.view(of: step.occupied) })
    }

    /// Returns the views at the new positions of the messages.
    ///
    /// - Parameter relocations: Sorted by former position.
    private func relocatedViews(_ relocations: [Relocation]) -> [UserID: RelocatedView] {
        views.mapValues { view in view.relocated(by: relocations) }
    }
}

/// One participant's view of a conversation, as far as merging needs it (X1.3).
///
/// In a distinct conversation all users are participants from the start.
public struct MergeableView: Equatable, Sendable {
    /// Whether the conversation is in the participant's view.
    public let state: ViewState
    /// The position up to which the participant deleted all messages from their own view (R16).
    public let clearedTo: Position
    /// Single later positions that the participant does not see: deleted, or hidden by a block (R29, R32).
    public let hidden: IntervalSet
    /// The received and read positions.
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

    /// The positions up to ``clearedTo``.
    private var cleared: IntervalSet {
        clearedTo > .start ? IntervalSet(1...clearedTo.number) : IntervalSet()
    }

    /// Returns the view at the new positions of the messages.
    ///
    /// The deleted positions may no longer be contiguous, so they are listed one by one.
    fileprivate func relocated(by relocations: [Relocation]) -> RelocatedView {
        RelocatedView(
            state: state, cleared: cleared.relocated(by: relocations),
            hidden: hidden.relocated(by: relocations),
            receipts: Receipts(
                delivered: receipts.delivered.relocated(by: relocations),
                read: receipts.read.relocated(by: relocations)))
    }
}

/// A view during a merge, with the positions that are not visible listed one by one.
private struct RelocatedView {
    let state: ViewState
    let cleared: IntervalSet
    let hidden: IntervalSet
    let receipts: Receipts

    /// Merges two views: the conversation is visible if it is in either, each message has the higher status, and
    /// deleted or hidden messages stay so.
    func merging(_ other: RelocatedView) -> RelocatedView {
        RelocatedView(
            state: max(state, other.state), cleared: cleared.union(other.cleared),
            hidden: hidden.union(other.hidden),
            receipts: Receipts(
                delivered: receipts.delivered.union(other.receipts.delivered),
                read: receipts.read.union(other.receipts.read)))
    }

    /// Returns the view of a conversation with messages at the given positions.
    func view(of messages: IntervalSet) -> MergeableView {
        let unseen = cleared.union(hidden).intersection(messages)
        let first = messages.subtracting(unseen).intervals.first?.lowerBound ?? .max
        let leading = cleared.intervals.prefix { interval in interval.lowerBound < first }
        var clearedTo = leading.last.map { interval in min(interval.upperBound, first - 1) } ?? 0
        // Messages that were deleted with earlier ones, and were moved before them by a sort.
        if clearedTo > 0, first < .max {
            clearedTo = max(
                clearedTo,
                unseen.intersection(IntervalSet(1...(first - 1))).intervals.last?.upperBound ?? 0)
        }
        return MergeableView(
            state: state, clearedTo: Position(clearedTo),
            hidden: clearedTo > 0 ? unseen.subtracting(IntervalSet(1...clearedTo)) : unseen,
            receipts: receipts)
    }
}

extension ViewState: Comparable {
    /// A merge takes the greater state: a conversation is visible if it was visible in either. `cleared` is above
    /// `unseen`, because a user may write to a conversation that they deleted from their own view.
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
