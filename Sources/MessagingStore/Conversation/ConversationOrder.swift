/// How a user's conversations are sorted, always descending (platform-api 5.1.3).
public enum ConversationOrder: Sendable {
    /// By creation, then by id.
    case createdAt
    /// By the sending of the last visible message, else creation, then by id.
    case lastMessage
}
