public import Messaging
import SQL

extension MessagingStore {
    /// Creates a conversation, or returns the existing distinct one.
    ///
    /// - Parameters:
    ///   - draft: The requested conversation.
    ///   - key: The `If-None-Match` key; it becomes the id unless the draft proposes one.
    /// - Throws: `Rejection.objectDeleted` when the object of the key or the id has been deleted.
    public func createConversation(
        _ draft: Conversation.Draft, key: Replay.Key? = nil, in application: Application.ID
    ) async throws -> CreationOutcome<ConversationSnapshot> {
        let id = draft.proposedID ?? key.map(Conversation.ID.init) ?? environment.newID()
        let hash = environment.sha256
        return try await change(
            in: application,
            prefetching: { transaction in
                try transaction.prefetchCreation(
                    of: draft, as: id, key: key, in: application, hash: hash)
            }
        ) { context in
            let creation = try context.create(draft, as: id, key: key)
            return try creation.map { conversation in
                try context.transaction.snapshot(of: conversation, in: application)
            }
        }
    }

    /// Creates a conversation on behalf of a user, or returns the existing distinct one. The user becomes a
    /// participant, also if the draft does not name them (R1), and until the first message only they see it (R51).
    ///
    /// - Throws: `Rejection`: `notFound(.user)`; `participantBlocked` when the draft names a user they block
    ///   (R31); `notFound(.conversation)` when the object of the key is not in their view;
    ///   `idTaken(.conversation)` when the id belongs to one they do not see.
    public func createConversation(
        _ draft: Conversation.Draft, by user: UserID, key: Replay.Key? = nil,
        in application: Application.ID
    ) async throws -> CreationOutcome<ConversationView> {
        let id = draft.proposedID ?? key.map(Conversation.ID.init) ?? environment.newID()
        let hash = environment.sha256
        return try await change(
            in: application,
            prefetching: { transaction in
                _ = try transaction.queryIdentity(of: user, in: application)
                try transaction.prefetchCreation(
                    of: draft, as: id, key: key, in: application, hash: hash)
            }
        ) { context in
            let transaction = context.transaction
            try transaction.requireUser(user, in: application)
            let creation: CreationOutcome<Conversation>
            do {
                creation = try context.create(draft, by: .user(user), as: id, key: key)
            } catch Rejection.objectDeleted {
                throw Rejection.notFound(.conversation)
            }
            return try creation.map { conversation in
                try context.requireShowing(creation, to: user)
                return try transaction.snapshot(
                    of: conversation.id, seenBy: user, in: application)
            }
        }
    }
}

extension MutationContext {
    fileprivate func create(
        _ draft: Conversation.Draft, by perspective: Perspective = .system,
        as id: Conversation.ID, key: Replay.Key?
    ) throws -> CreationOutcome<Conversation> {
        if let key {
            if let match = try conversation(matchedWith: key) { return .matched(match) }
            if let made = try conversation(createdWith: key) { return .replayed(made) }
        }
        if let user = perspective.user {
            try rejectBlocked(draft.participants.users, by: user)
        }
        if draft.proposedID != nil, let holder = try holder(of: id) { return .idInUse(holder) }
        if draft.isDistinct, let match = try match(of: draft) {
            // The key and the proposed id stay unused (rulings 12 and 51).
            guard match.isMatch(for: draft) else { return .conflict(match) }
            if let event = match.matching(draft, key: key) { try record(event) }
            try show(match, to: perspective)
            return .matched(match)
        }
        let events = Conversation.creating(
            draft, by: perspective.user, limits, as: id, key: key, at: now)
        for event in events { try record(event) }
        guard case .conversationCreated(let created)? = events.first else {
            throw StoreFault.unreadable("first event of a creation")
        }
        return .created(created.conversation)
    }

    /// The conversation that an earlier request with the key matched; a replay has the status of that response
    /// (platform-api 1.9, rule 3).
    private func conversation(matchedWith key: Replay.Key) throws -> Conversation? {
        let match = try transaction.object(createdWith: key, as: .match, in: application)
        return try match.flatMap(Conversation.ID.init).flatMap(holder)
    }

    /// The conversation that was created with a key, or that has it as its id (platform-api 1.9, rules 4 to 6).
    private func conversation(createdWith key: Replay.Key) throws -> Conversation? {
        let made = try transaction.object(createdWith: key, as: .conversation, in: application)
        return try holder(of: made.flatMap(Conversation.ID.init) ?? Conversation.ID(key))
    }

    /// Puts a matched conversation into the view of the user that requested it (R53, ruling 15).
    private func show(_ match: Conversation, to perspective: Perspective) throws {
        let participant = try perspective.user.flatMap { user in
            try transaction.participant(user, in: match.id, in: application)
        }
        if let event = match.appearing(to: participant, at: now) { try record(event) }
    }

    /// Checks that an existing conversation may be revealed to a user.
    ///
    /// A conflict occurs only with a conversation of the same participants, so the response may show it. A match was put
    /// into the user's view; if an earlier request with the key matched it, it may have been removed from the view
    /// since.
    ///
    /// - Throws: `Rejection.notFound(.conversation)`; `idTaken(.conversation)`.
    fileprivate func requireShowing(
        _ creation: CreationOutcome<Conversation>, to user: UserID
    ) throws {
        let participant = try transaction.participant(
            user, in: creation.object.id, in: application)
        switch creation {
        case .created, .conflict: return
        case .matched, .replayed:
            guard participant?.state == .shown else { throw Rejection.notFound(.conversation) }
        case .idInUse:
            guard participant?.state == .shown else { throw Rejection.idTaken(.conversation) }
        }
    }

    /// The existing distinct conversation of the participants of a draft.
    private func match(of draft: Conversation.Draft) throws -> Conversation? {
        try transaction.distinctConversation(
            of: DistinctKey(draft.participants, hash: hash), in: application)
    }
}

extension Transaction {
    /// Queries ahead what the creation of a conversation depends on.
    fileprivate func prefetchCreation(
        of draft: Conversation.Draft, as id: Conversation.ID, key: Replay.Key?,
        in application: Application.ID, hash: ([UInt8]) -> [UInt8]
    ) throws {
        if let key {
            for kind in [Replay.Kind.match, .conversation] {
                _ = try queryObject(createdWith: key, as: kind, in: application)
            }
        }
        if key != nil || draft.proposedID != nil {
            _ = try queryLocked(id, in: application)
            _ = try queryWinner(of: id, in: application)
        }
        if draft.isDistinct {
            prefetchDistinctConversation(
                of: DistinctKey(draft.participants, hash: hash), in: application)
        }
        _ = try queryLogEnd(in: application)
        prefetchIdentities(of: draft.participants.users, in: application)
    }
}
