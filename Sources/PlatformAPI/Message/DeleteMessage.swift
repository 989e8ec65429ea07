import MessagingStore

extension Call {
    /// `DELETE /conversations/{C}/messages/{M}`, and by its short address (platform-api §5.2.5).
    func deleteMessage() async throws -> Reply {
        try await demanding { (message: MessageSnapshot) in
            json(message)
        } change: { demand in
            let (message, asked) = (try message(), try conversationIfNamed())
            let own = try await store.deleteMessage(
                message, in: asked, if: demand, in: application)
            return Reply.noContent.locating(message, in: own, askedIn: asked, links)
        }
    }
}
