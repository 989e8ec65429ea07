public import Messaging

/// How far a user has read a conversation, all at once.
public struct AllRead: Equatable, Sendable {
    /// The conversation's own id, should an alias have been given.
    public let conversation: Conversation.ID
    /// The place of the last message he has read; `nil` when there is none.
    public let place: Position?
}
