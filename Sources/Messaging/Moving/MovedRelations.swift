/// Whom a user follows, whether they share a conversation or not, and whom he blocks.
public struct MovedRelations: Equatable, Sendable {
    /// The user.
    public let user: UserID
    /// Whom he follows by will, or since they met; in the order of their names' bytes.
    public let followed: [UserID]
    /// Whom he blocks, in the same order.
    public let blocked: [UserID]

    /// What a user wants of others.
    public init(_ user: UserID, followed: [UserID] = [], blocked: [UserID] = []) {
        self.user = user
        self.followed = followed
        self.blocked = blocked
    }
}
