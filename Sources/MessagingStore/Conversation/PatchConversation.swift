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
        _ id: Conversation.ID, _ patches: [ConversationPatch], if demand: VersionDemand = .any,
        in application: Application.ID
    ) async throws -> ConversationSnapshot {
        try await change(in: application) { recording in
            let before = try recording.transaction.lockedConversation(id, in: application)
            try demand.check(before.version) {
                try recording.transaction.snapshot(of: before, in: application)
            }
            for event in try before.patching(patches, recording.limits, at: recording.now) {
                try recording.record(event)
            }
            return try recording.transaction.snapshot(
                of: try recording.transaction.conversation(before.id, in: application),
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
        if demand: VersionDemand = .any, in application: Application.ID
    ) async throws -> ConversationView {
        try await change(in: application) { recording in
            try recording.transaction.requireUser(user, in: application)
            let (before, part) = try recording.transaction.lockedConversation(
                id, for: user, in: application)
            try part.requireWriting()
            try recording.check(demand, before, for: user)
            let events = try before.patching(patches, recording.limits, at: recording.now)
            for case .participantsChanged(let change) in events {
                try recording.refuseBlocked(change.added, by: user)
            }
            for event in events { try recording.record(event) }
            return try recording.transaction.snapshot(
                of: before.id, seenBy: user, in: application)
        }
    }
}
