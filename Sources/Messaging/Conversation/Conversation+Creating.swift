extension Conversation {
    /// Decides a creation of exactly the users the draft names (R1).
    ///
    /// - Parameter creator: The user who makes it and alone sees it until the first message (R51);
    ///   `nil` for the system, whose conversations are announced at once (R52).
    public static func creating(
        _ draft: Draft, by creator: UserID? = nil, as id: Conversation.ID, key: Replay.Key? = nil,
        at now: Timestamp
    ) -> [Event] {
        let made = Conversation(
            id: id, createdAt: now, participants: draft.participants,
            isDistinct: draft.isDistinct,
            metadata: draft.metadata.map { tree in Metadata(tree, at: now) } ?? Metadata(),
            isAnnounced: creator == nil)
        return [
            .conversationCreated(ConversationCreated(conversation: made, key: key)),
            creator.map { creator in made.showing(to: [creator], at: now) },
        ].compactMap(\.self)
    }

    /// Decides what a distinct match shows to whom (R53, rulings 15): the system announces it, a
    /// user who did not see it does from now on; `nil` when nothing changes.
    public func appearing(to asker: Participant?, at now: Timestamp) -> Event? {
        guard let asker else { return isAnnounced ? nil : .conversationAnnounced(id, at: now) }
        return asker.state == .shown ? nil : showing(to: [asker.userID], at: now)
    }

    private func showing(to users: [UserID], at now: Timestamp) -> Event {
        .conversationShown(ConversationShown(conversation: id, users: users, at: now))
    }

    /// Whether this distinct conversation is what a draft with the same participants asks for.
    ///
    /// No metadata matches any; other metadata must be deeply equal (R7).
    public func isMatch(for draft: Draft) -> Bool {
        draft.metadata.map { tree in tree == metadata.view } ?? true
    }

    /// What a match leaves to remember; `nil` for nothing, so that a plain match is no event.
    public func matching(_ draft: Draft, key: Replay.Key?) -> Event? {
        let alias = [draft.proposedID, key.map(Conversation.ID.init)].lazy
            .compactMap(\.self).first { alias in alias != id }
        guard key != nil || alias != nil else { return nil }
        return .conversationMatched(ConversationMatched(conversation: id, key: key, alias: alias))
    }
}
