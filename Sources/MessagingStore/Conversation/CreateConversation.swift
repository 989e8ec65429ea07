public import Messaging
import SQL

extension MessagingStore {
    /// Makes a conversation, or finds the distinct one there is.
    ///
    /// - Parameters:
    ///   - draft: What is asked for.
    ///   - key: The `If-None-Match` key; it becomes the id unless the draft proposes one.
    /// - Throws: `Rejection.objectDeleted` when what the key or the id names has been deleted.
    public func createConversation(
        _ draft: Conversation.Draft, key: Replay.Key? = nil, in application: Application.ID
    ) async throws -> Creation<ConversationSnapshot> {
        let id = draft.proposedID ?? key.map(Conversation.ID.init) ?? environment.newID()
        return try await change(in: application) { recording in
            let creation = try recording.create(draft, as: id, key: key)
            return try creation.map { conversation in
                try recording.transaction.snapshot(of: conversation, in: application)
            }
        }
    }
}

extension Recording {
    fileprivate func create(
        _ draft: Conversation.Draft, as id: Conversation.ID, key: Replay.Key?
    ) throws -> Creation<Conversation> {
        if let key {
            if let match = try conversation(matchedWith: key) { return .matched(match) }
            if let made = try conversation(madeWith: key) { return .replayed(made) }
        }
        if draft.proposedID != nil, let holder = try holder(of: id) { return .idInUse(holder) }
        if draft.isDistinct, let match = try match(of: draft) {
            guard match.isMatch(for: draft) else { return .conflict(match) }
            if let event = match.matching(draft, key: key) { try record(event) }
            return .matched(match)
        }
        try record(Conversation.creating(draft, as: id, key: key, at: now))
        guard let made = try transaction.storedConversation(id, in: application) else {
            throw StoreFault.unreadable("conversation just created")
        }
        return .created(made)
    }

    /// What a key met when it first came: its replay has the status of that answer (1.9, rule 3).
    private func conversation(matchedWith key: Replay.Key) throws -> Conversation? {
        let match = try transaction.object(madeWith: key, as: .match, in: application)
        return try match.flatMap(Conversation.ID.init).flatMap(holder)
    }

    /// What a key made, or what bears it as its id (platform-api 1.9, rules 4 to 6).
    private func conversation(madeWith key: Replay.Key) throws -> Conversation? {
        let made = try transaction.object(madeWith: key, as: .conversation, in: application)
        return try holder(of: made.flatMap(Conversation.ID.init) ?? Conversation.ID(key))
    }

    /// Who has an id, as its own or as an alias; `nil` when it is free.
    private func holder(of id: Conversation.ID) throws -> Conversation? {
        do {
            return try transaction.conversation(id, in: application)
        } catch Rejection.notFound(.conversation) {
            return nil
        }
    }

    private func match(of draft: Conversation.Draft) throws -> Conversation? {
        try transaction.distinctConversation(
            of: DistinctKey(draft.participants, hash: hash), in: application)
    }
}
