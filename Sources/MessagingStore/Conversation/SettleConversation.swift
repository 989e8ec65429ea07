import Messaging
import SQL

extension Recording {
    /// Merges a distinct conversation with the one its participants have already (X1), or, where there is none
    /// beside it, puts its messages in the order of their sending.
    ///
    /// Doing it again changes nothing, and neither does doing it to an ordinary conversation.
    ///
    /// - Parameter id: Its own id or an alias.
    /// - Returns: The id of the winner, and whether anything has changed.
    /// - Throws: `Rejection.notFound(.conversation)`, `objectDeleted`.
    @discardableResult
    func settle(_ id: Conversation.ID) throws -> (winner: Conversation.ID, hasChanged: Bool) {
        let own = try transaction.lockedConversation(id, in: application)
        guard own.isDistinct else { return (own.id, false) }
        let copy = try transaction.copy(of: own, in: application)
        let holder = try transaction.distinctConversation(
            of: DistinctKey(own.participants, hash: hash), in: application)
        guard let holder, holder.id != own.id else {
            return (own.id, try order(copy, isHolder: holder != nil))
        }
        let other = try transaction.copy(of: holder, in: application)
        let (merged, relocations) = copy.meeting(other)
        let loser = merged.id == own.id ? other : copy
        try record(
            .conversationMerged(
                ConversationMerged(merged, losing: loser, relocations: relocations, at: now)))
        // Deliveries are not made from the log alone, so nothing that replays it sees to them.
        try transaction.joinLanes(of: loser.id, into: merged.id, in: application)
        return (merged.id, true)
    }

    /// Puts the messages of the only one of its participants in order.
    ///
    /// - Parameter isHolder: Whether it is found by them already.
    /// - Returns: Whether anything has changed.
    private func order(_ copy: ConversationCopy, isHolder: Bool) throws -> Bool {
        let (ordered, relocations) = copy.inOrder
        guard !isHolder || !relocations.allSatisfy(\.isStanding) else { return false }
        try record(
            .conversationMerged(
                ConversationMerged(ordered, losing: nil, relocations: relocations, at: now)))
        return true
    }

    /// Who has an id, as its own or as an alias; `nil` when it is free.
    func holder(of id: Conversation.ID) throws -> Conversation? {
        do {
            return try transaction.conversation(id, in: application)
        } catch Rejection.notFound(.conversation) {
            return nil
        }
    }
}

extension ConversationMerged {
    /// - Parameter loser: `nil` when one has come into its order.
    fileprivate init(
        _ merged: ConversationCopy, losing loser: ConversationCopy?, relocations: [Relocation],
        at moment: Timestamp
    ) {
        self.init(
            winner: merged.id, loser: loser?.id,
            aliases: loser.map { loser in loser.aliases.union([loser.id]).sorted() } ?? [],
            metadata: merged.metadata, isAnnounced: merged.isAnnounced,
            lastPosition: merged.lastPosition, relocations: relocations,
            views: merged.views.sorted { left, right in left.key < right.key }
                .map { user, view in View(user, view) }, at: moment)
    }
}
