import MessagingStore

extension Call {
    /// `DELETE /conversations/{C}` (platform-api §5.1.6): always for everyone, again and again.
    func deleteConversation() async throws -> Reply {
        try await demanding { (conversation: ConversationSnapshot) in
            json(conversation)
        } change: { demand in
            let asked = try conversation()
            let own = try await store.deleteConversation(asked, if: demand, in: application)
            return Reply.noContent.locating(own, askedAs: asked, links)
        }
    }
}
