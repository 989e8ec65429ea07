public import Messaging

extension MessagingStore {
    /// Changes participants and metadata, all or nothing (R48).
    ///
    /// - Parameters:
    ///   - patches: Operations in order; an empty array changes nothing.
    ///   - demand: The required version of the conversation (X4).
    /// - Returns: The changed conversation.
    /// - Throws: `Rejection`: `notFound`, `objectDeleted`, or `invalid` with the property of the failed
    ///   operation; `VersionMismatch<ConversationSnapshot>`.
    @discardableResult
    public func patchConversation(
        _ id: Conversation.ID, _ patches: [ConversationPatch],
        if demand: VersionPrecondition = .any,
        in application: Application.ID
    ) async throws -> ConversationSnapshot {
        try await change(
            in: application,
            prefetching: { transaction in
                _ = try transaction.queryLocked(id, in: application)
                _ = try transaction.queryLogEnd(in: application)
                if patches.contains(where: \.isOfParticipants) {
                    _ = try transaction.queryCurrentParticipants(of: id, in: application)
                } else {
                    _ = try transaction.queryShownParticipants(of: id, in: application)
                }
                transaction.prefetchIdentities(in: id, in: application)
            }
        ) { context in
            let before = try context.transaction.lockedConversation(
                id, toApply: patches, in: application)
            try demand.check(before.version) {
                try context.transaction.snapshot(of: before, in: application)
            }
            for event in try before.patching(patches, context.limits, at: context.now) {
                try context.record(event)
            }
            return try context.transaction.snapshot(
                of: try context.transaction.lockedConversation(
                    before.id, toApply: patches, in: application),
                in: application)
        }
    }

    /// Changes participants and metadata on behalf of a current participant, all or nothing (R10, R14, R48).
    ///
    /// - Returns: The changed conversation as the user sees it.
    /// - Throws: `Rejection`: `notFound` of the user or of a conversation the user does not see,
    ///   `accessDenied` for a former participant, `invalid`, `participantBlocked` for adding a blocked user
    ///   (R31); `VersionMismatch<ConversationView>`.
    @discardableResult
    public func patchConversation(
        _ id: Conversation.ID, _ patches: [ConversationPatch], by user: UserID,
        if demand: VersionPrecondition = .any, in application: Application.ID
    ) async throws -> ConversationView {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            let (found, participant) = try context.transaction.lockedConversationRow(
                id, for: user, in: application)
            try participant.requireWriting()
            try context.check(demand, found, for: user)
            let before = try context.transaction.withParticipants(
                found, toApply: patches, in: application)
            let events = try before.patching(patches, context.limits, at: context.now)
            for case .participantsChanged(let change) in events {
                try context.rejectBlocked(change.added, by: user)
            }
            for event in events { try context.record(event) }
            return try context.transaction.snapshot(
                of: before.id, seenBy: user, in: application)
        }
    }
}

extension MessagingStore {
    /// Deletes a conversation for all participants; repeating it succeeds (R18).
    ///
    /// - Parameter demand: The required version of a live conversation (X4).
    /// - Returns: Its own id, also when an alias was given.
    /// - Throws: `Rejection.notFound` when it never existed; `VersionMismatch<ConversationSnapshot>`.
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

    /// Deletes a conversation on behalf of a user, for all participants or only for the user (R16–R18).
    ///
    /// - Returns: Its own id, also when an alias was given.
    /// - Throws: `Rejection`: `notFound` of the user or of a conversation that is not in their view,
    ///   including a deleted one; `accessDenied` for a former participant that deletes it for others (R14);
    ///   `VersionMismatch<ConversationView>`.
    @discardableResult
    public func deleteConversation(
        _ id: Conversation.ID, _ deletion: Conversation.Deletion, by user: UserID,
        if demand: VersionPrecondition = .any, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            let (found, participant) = try context.transaction.lockedConversationRow(
                id, for: user, in: application)
            let before =
                try deletion == .forMe
                ? found : context.transaction.withParticipants(found, in: application)
            let events = try before.deleting(
                deletion, by: participant, context.limits, at: context.now)
            try context.check(demand, before, for: user)
            for event in events { try context.record(event) }
            return before.id
        }
    }
}

extension MutationContext {
    /// Checks the required version of a conversation that a user may change (X4).
    func check(_ demand: VersionPrecondition, _ conversation: Conversation, for user: UserID) throws
    {
        try demand.check(conversation.version) {
            try transaction.snapshot(of: conversation.id, seenBy: user, in: application)
        }
    }
}
