/// A user with what the server keeps of him.
public struct MovedUser: Equatable, Sendable {
    /// Who he is.
    public let user: User
    /// The part of his badge that the application has set.
    public let externalUnreadCount: Int64

    /// A user as stored.
    public init(_ user: User, externalUnreadCount: Int64 = 0) {
        self.user = user
        self.externalUnreadCount = externalUnreadCount
    }
}
