public import Messaging

extension MessagingStore {
    /// Changes participants and metadata, all of it or nothing (R48).
    ///
    /// - Parameters:
    ///   - patches: Operations in order; none changes nothing.
    ///   - demand: What the conversation's version must be (X4).
    /// - Returns: The conversation after it.
    /// - Throws: `Rejection`: `notFound`, `objectDeleted`, or `invalid` with the property of the
    ///   operation at fault; `VersionMismatch<ConversationSnapshot>`.
    @discardableResult
    public func patchConversation(
        _ id: Conversation.ID, _ patches: [ConversationPatch],
        if demand: VersionPrecondition = .any,
        in application: Application.ID
    ) async throws -> ConversationSnapshot {
        try await change(in: application) { context in
            let before = try context.transaction.lockedConversation(id, in: application)
            try demand.check(before.version) {
                try context.transaction.snapshot(of: before, in: application)
            }
            for event in try before.patching(patches, context.limits, at: context.now) {
                try context.record(event)
            }
            return try context.transaction.snapshot(
                of: try context.transaction.conversation(before.id, in: application),
                in: application)
        }
    }

    /// The same on behalf of a user, who is to take part now (R10, R14).
    ///
    /// - Returns: The conversation after it, as he sees it then.
    /// - Throws: `Rejection`: `notFound` of the user or of a conversation he cannot know of,
    ///   `accessDenied` for a former participant, `invalid`, `participantBlocked` for adding
    ///   somebody he blocks (R31); `VersionMismatch<ConversationView>`.
    @discardableResult
    public func patchConversation(
        _ id: Conversation.ID, _ patches: [ConversationPatch], by user: UserID,
        if demand: VersionPrecondition = .any, in application: Application.ID
    ) async throws -> ConversationView {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            let (before, part) = try context.transaction.lockedConversation(
                id, for: user, in: application)
            try part.requireWriting()
            try context.check(demand, before, for: user)
            let events = try before.patching(patches, context.limits, at: context.now)
            for case .participantsChanged(let change) in events {
                try context.refuseBlocked(change.added, by: user)
            }
            for event in events { try context.record(event) }
            return try context.transaction.snapshot(
                of: before.id, seenBy: user, in: application)
        }
    }
}

extension MessagingStore {
    /// Deletes a conversation for everybody; doing it again succeeds (R18).
    ///
    /// - Parameter demand: What the version of one that lives must be (X4).
    /// - Returns: Its own id, should an alias have been given.
    /// - Throws: `Rejection.notFound` when it never was; `VersionMismatch<ConversationSnapshot>`.
    @discardableResult
    public func deleteConversation(
        _ id: Conversation.ID, if demand: VersionPrecondition = .any, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(in: application) { context in
            do {
                let before = try context.transaction.lockedConversation(id, in: application)
                try demand.check(before.version) {
                    try context.transaction.snapshot(of: before, in: application)
                }
                if let event = before.deleting(at: context.now) { try context.record(event) }
                return before.id
            } catch Rejection.objectDeleted {
                return try context.transaction.winner(of: id, in: application) ?? id
            }
        }
    }

    /// Deletes a conversation on behalf of a user, for everybody or for himself (R16–R18).
    ///
    /// - Returns: Its own id, should an alias have been given.
    /// - Throws: `Rejection`: `notFound` of the user or of a conversation that does not stand in his
    ///   view, also of one that is deleted; `accessDenied` for a former participant who would
    ///   delete it for others (R14); `VersionMismatch<ConversationView>`.
    @discardableResult
    public func deleteConversation(
        _ id: Conversation.ID, _ deletion: Conversation.Deletion, by user: UserID,
        if demand: VersionPrecondition = .any, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            let (before, part) = try context.transaction.lockedConversation(
                id, for: user, in: application)
            let events = try before.deleting(deletion, by: part, at: context.now)
            try context.check(demand, before, for: user)
            for event in events { try context.record(event) }
            return before.id
        }
    }
}

extension MutationContext {
    /// Judges what a user demands of a conversation he may change (X4).
    func check(_ demand: VersionPrecondition, _ conversation: Conversation, for user: UserID) throws
    {
        try demand.check(conversation.version) {
            try transaction.snapshot(of: conversation.id, seenBy: user, in: application)
        }
    }
}
