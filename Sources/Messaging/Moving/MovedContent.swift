/// A content with whoever uploaded it; its bytes travel beside it.
public struct MovedContent: Equatable, Sendable {
    /// The content.
    public let content: Content
    /// The user on whose behalf it was uploaded (R86); `nil` for the application.
    public let owner: UserID?

    /// A content as stored.
    public init(_ content: Content, owner: UserID? = nil) {
        self.content = content
        self.owner = owner
    }

    /// The same content in another conversation, if it belongs to the one.
    func moved(from conversation: Conversation.ID, to home: Conversation.ID) -> MovedContent {
        guard content.conversation == conversation else { return self }
        var content = content
        content.conversation = home
        return MovedContent(content, owner: owner)
    }
}
