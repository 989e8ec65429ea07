extension Conversation {
    /// Decides a creation by the system: announced at once (R52), exactly the named users (R1).
    public static func creating(
        _ draft: Draft, as id: Conversation.ID, key: Replay.Key? = nil, at now: Timestamp
    ) -> Event {
        .conversationCreated(
            ConversationCreated(
                conversation: Conversation(
                    id: id, createdAt: now, participants: draft.participants,
                    isDistinct: draft.isDistinct,
                    metadata: draft.metadata.map { tree in Metadata(tree, at: now) } ?? Metadata()),
                key: key))
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
