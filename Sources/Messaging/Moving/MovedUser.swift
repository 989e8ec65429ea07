/// A user with what the server keeps of him.
public struct MovedUser: Equatable, Sendable {
    /// Who he is.
    public let user: User
    /// The part of his badge that the application has set.
    public let externalUnreadCount: Int64
    /// When the user was first named; `nil` for the moment of the import.
    public let createdAt: Timestamp?

    /// A user as stored.
    public init(_ user: User, externalUnreadCount: Int64, createdAt: Timestamp?) {
        self.user = user
        self.externalUnreadCount = externalUnreadCount
        self.createdAt = createdAt
    }
}
