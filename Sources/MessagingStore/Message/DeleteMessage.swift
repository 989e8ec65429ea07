public import Messaging

extension MessagingStore {
    /// Deletes a message for everybody (R29).
    ///
    /// - Parameters:
    ///   - conversation: The one it must belong to; `nil` for any.
    ///   - demand: What the message's version must be (X4).
    /// - Throws: `Rejection.notFound` of the conversation or the message, also of one deleted
    ///   already; `objectDeleted`; `VersionMismatch<MessageSnapshot>`.
    public func deleteMessage(
        _ id: Message.ID, in conversation: Conversation.ID?, if demand: VersionDemand = .any,
        in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            let message = try recording.transaction.liveMessage(
                id, in: conversation, in: application)
            try demand.check(message.version) { try recording.snapshot(of: message) }
            try recording.record(
                .messageDeleted(message.id, in: message.conversation, at: message.position))
        }
    }
}
