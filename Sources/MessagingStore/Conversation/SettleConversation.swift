public import Messaging
import SQL

extension MessagingStore {
    /// Makes a conversation that comes from elsewhere, under its own id and with its own times (X10).
    ///
    /// A distinct one whose participants have another one already is made beside it, and stays so until
    /// ``settleConversation(_:in:)`` merges them: nobody finds it by its participants meanwhile.
    ///
    /// - Parameter conversation: Without messages; its metadata bears the times of its writes.
    /// - Returns: The id of what bears its id, as its own or as an alias: nothing is made then; `nil` when
    ///   it was made.
    /// - Throws: `Rejection.objectDeleted` when what bears its id was deleted for all.
    public func bringConversation(
        _ conversation: Conversation, in application: Application.ID
    ) async throws -> Conversation.ID? {
        try await change(in: application) { recording in
            if let holder = try recording.holder(of: conversation.id) { return holder.id }
            try recording.record(
                .conversationCreated(ConversationCreated(conversation: conversation)))
            return nil
        }
    }

    /// Ends the arrival of a distinct conversation and its messages: puts these in the order of their
    /// sending, and merges it with the distinct one its participants have already (X1).
    ///
    /// Doing it again changes nothing, and neither does doing it to an ordinary conversation.
    ///
    /// - Parameter id: Its own id or an alias.
    /// - Returns: The id of the winner.
    /// - Throws: `Rejection.notFound(.conversation)`, `objectDeleted`.
    @discardableResult
    public func settleConversation(
        _ id: Conversation.ID, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(in: application) { recording in try recording.settle(id) }
    }
}

extension Recording {
    /// See ``MessagingStore/settleConversation(_:in:)``.
    func settle(_ id: Conversation.ID) throws -> Conversation.ID {
        let own = try transaction.lockedConversation(id, in: application)
        guard own.isDistinct, let copy = try transaction.copy(of: own, in: application) else {
            return own.id
        }
        let holder = try transaction.distinctConversation(
            of: DistinctKey(own.participants, hash: hash), in: application)
        guard let holder, holder.id != own.id else {
            return try settle(copy, isHolder: holder != nil)
        }
        guard let other = try transaction.copy(of: holder, in: application) else { return own.id }
        let (merged, relocations) = copy.meeting(other)
        let loser = merged.id == own.id ? other : copy
        try record(
            .conversationMerged(
                ConversationMerged(merged, losing: loser, relocations: relocations, at: now)))
        // Deliveries are not made from the log alone, so nothing that replays it sees to them.
        try transaction.joinLanes(of: loser.id, into: merged.id, in: application)
        return merged.id
    }

    /// The only one of its participants comes into its order.
    ///
    /// - Parameter isHolder: Whether it is found by them already.
    private func settle(_ copy: ConversationCopy, isHolder: Bool) throws -> Conversation.ID {
        let (ordered, relocations) = copy.inOrder
        guard !isHolder || !relocations.allSatisfy(\.isStanding) else { return copy.id }
        try record(
            .conversationMerged(
                ConversationMerged(ordered, losing: nil, relocations: relocations, at: now)))
        return copy.id
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
