/// Whom a user follows changed by his own will; what shared conversations do is no event of its own.
public struct FollowingChanged: Equatable, Sendable {
    /// Who follows.
    public let follower: UserID
    /// Whom he follows from now on, whether or not a conversation connects them, in order of bytes.
    public let added: [UserID]
    /// Whom he follows no more unless a conversation connects them (rulings 19), in order of bytes.
    public let removed: [UserID]

    /// What happened.
    public init(follower: UserID, added: [UserID] = [], removed: [UserID] = []) {
        self.follower = follower
        self.added = added
        self.removed = removed
    }
}
