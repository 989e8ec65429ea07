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
            for event in try before.patching(patches, at: recording.now) {
                try recording.record(event)
            }
            return try recording.transaction.snapshot(
                of: try recording.transaction.conversation(before.id, in: application),
                in: application)
        }
    }
}
