extension ConversationCopy {
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
    public func meeting(
        _ other: ConversationCopy
    ) -> (copy: ConversationCopy, relocations: [Relocation]) {
        let (winner, loser) = wins(against: other) ? (self, other) : (other, self)
        let order = MessageOrder(of: winner, and: loser)
        let (mine, theirs, messages) = (order.ofWinner, order.ofLoser, order.messages)
        let views = winner.relocatedViews(mine)
            .merging(loser.relocatedViews(theirs)) { one, two in one.merging(two) }
        let copy = ConversationCopy(
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
    public var inOrder: (copy: ConversationCopy, relocations: [Relocation]) {
        let order = MessageOrder(of: self, and: nil)
        let (relocations, messages) = (order.ofWinner, order.messages)
        let copy = ConversationCopy(
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
