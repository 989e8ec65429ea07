public import Messaging

extension MessagingStore {
    /// Deletes a conversation for everybody; doing it again succeeds (R18).
    ///
    /// - Parameter demand: What the version of one that lives must be (X4).
    /// - Returns: Its own id, should an alias have been given.
    /// - Throws: `Rejection.notFound` when it never was; `VersionMismatch<ConversationSnapshot>`.
    @discardableResult
    public func deleteConversation(
        _ id: Conversation.ID, if demand: VersionDemand = .any, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(in: application) { recording in
            do {
                let before = try recording.transaction.lockedConversation(id, in: application)
                try demand.check(before.version) {
                    try recording.transaction.snapshot(of: before, in: application)
                }
                if let event = before.deleting(at: recording.now) { try recording.record(event) }
                return before.id
            } catch Rejection.objectDeleted {
                return try recording.transaction.winner(of: id, in: application) ?? id
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
        if demand: VersionDemand = .any, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(in: application) { recording in
            try recording.transaction.requireUser(user, in: application)
            let (before, part) = try recording.transaction.lockedConversation(
                id, for: user, in: application)
            let events = try before.deleting(deletion, by: part, at: recording.now)
            try recording.check(demand, before, for: user)
            for event in events { try recording.record(event) }
            return before.id
        }
    }
}

extension Recording {
    /// Judges what a user demands of a conversation he may change (X4).
    func check(_ demand: VersionDemand, _ conversation: Conversation, for user: UserID) throws {
        try demand.check(conversation.version) {
            try transaction.snapshot(of: conversation.id, seenBy: user, in: application)
        }
    }
}
