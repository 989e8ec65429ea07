public import Messaging

extension MessagingStore {
    /// Deletes a message for everybody (R29).
    ///
    /// - Parameters:
    ///   - conversation: The one it must belong to; `nil` for any.
    ///   - version: What the caller believes to delete (`If-Match`, X4).
    /// - Throws: `Rejection.notFound` of the conversation or the message, also of one deleted
    ///   already; `objectDeleted`, `versionMismatch`.
    public func deleteMessage(
        _ id: Message.ID, in conversation: Conversation.ID?, ifVersion version: Int64? = nil,
        in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            let message = try recording.transaction.liveMessage(
                id, in: conversation, in: application)
            guard version ?? message.version == message.version else {
                throw Rejection.versionMismatch
            }
            try recording.record(
                .messageDeleted(message.id, in: message.conversation, at: message.position))
        }
    }
}
