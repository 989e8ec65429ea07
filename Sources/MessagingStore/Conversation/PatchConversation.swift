public import Messaging

extension MessagingStore {
    /// Changes participants and metadata, all of it or nothing (R48).
    ///
    /// - Parameters:
    ///   - patches: Operations in order; none changes nothing.
    ///   - version: What the caller believes to change (`If-Match`, X4); `nil` for whatever is there.
    /// - Returns: The conversation after it.
    /// - Throws: `Rejection`: `notFound`, `objectDeleted`, `versionMismatch`, or `invalid` with the
    ///   property of the operation at fault.
    @discardableResult
    public func patchConversation(
        _ id: Conversation.ID, _ patches: [ConversationPatch], ifVersion version: Int64? = nil,
        in application: Application.ID
    ) async throws -> ConversationSnapshot {
        try await change(in: application) { recording in
            let before = try recording.transaction.lockedConversation(id, in: application)
            guard version ?? before.version == before.version else {
                throw Rejection.versionMismatch
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
