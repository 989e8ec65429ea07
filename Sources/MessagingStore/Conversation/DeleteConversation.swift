public import Messaging

extension MessagingStore {
    /// Deletes a conversation for everybody; doing it again succeeds (R18).
    ///
    /// - Parameter version: What the caller believes to delete (`If-Match`, X4).
    /// - Throws: `Rejection.notFound` when it never was, `versionMismatch`.
    public func deleteConversation(
        _ id: Conversation.ID, ifVersion version: Int64? = nil, in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            do {
                let before = try recording.transaction.lockedConversation(id, in: application)
                guard version ?? before.version == before.version else {
                    throw Rejection.versionMismatch
                }
                if let event = before.deleting(at: recording.now) { try recording.record(event) }
            } catch Rejection.objectDeleted {
                return
            }
        }
    }
}
