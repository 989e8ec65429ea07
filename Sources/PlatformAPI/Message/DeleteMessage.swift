import MessagingStore

extension Call {
    /// `DELETE /conversations/{C}/messages/{M}`, and by its short address (platform-api §5.2.5).
    func deleteMessage() async throws -> Reply {
        try await demanding { (message: MessageSnapshot) in
            json(message)
        } change: { demand in
            try await store.deleteMessage(
                message(), in: conversationIfNamed(), if: demand, in: application)
            return .noContent
        }
    }
}
