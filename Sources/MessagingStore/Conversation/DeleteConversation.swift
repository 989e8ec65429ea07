public import Messaging

extension MessagingStore {
    /// Deletes a conversation for everybody; doing it again succeeds (R18).
    ///
    /// - Parameter demand: What the version of one that lives must be (X4).
    /// - Throws: `Rejection.notFound` when it never was; `VersionMismatch<ConversationSnapshot>`.
    public func deleteConversation(
        _ id: Conversation.ID, if demand: VersionDemand = .any, in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            do {
                let before = try recording.transaction.lockedConversation(id, in: application)
                try demand.check(before.version) {
                    try recording.transaction.snapshot(of: before, in: application)
                }
                if let event = before.deleting(at: recording.now) { try recording.record(event) }
            } catch Rejection.objectDeleted {
                return
            }
        }
    }
}
