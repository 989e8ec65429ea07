import MessagingStore

extension Call {
    /// `DELETE /conversations/{C}/messages/{M}`, and by its short address (platform-api §5.2.5).
    func deleteMessage() async throws -> Reply {
        try await store.deleteMessage(message(), in: conversationIfNamed(), in: application)
        return .noContent
    }
}
