/// What a user's devices show as unread (R63, platform-api §5.10).
public struct Badge: Equatable, Sendable {
    /// What the application counts elsewhere.
    public let externalUnreadCount: Int64
    /// Conversations with a message he has not read.
    public let unreadConversationCount: Int64
    /// Messages he has not read.
    public let unreadMessageCount: Int64

    /// The external counts there are: what an import takes, too (ruling 25).
    public static let externalUnreadCounts: ClosedRange<Int64> = 0...(1 << 36) - 1

    /// A badge as counted.
    public init(
        externalUnreadCount: Int64, unreadConversationCount: Int64, unreadMessageCount: Int64
    ) {
        self.externalUnreadCount = externalUnreadCount
        self.unreadConversationCount = unreadConversationCount
        self.unreadMessageCount = unreadMessageCount
    }
}
