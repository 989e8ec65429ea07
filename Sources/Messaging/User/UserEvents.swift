/// Members of an identity were set one by one.
public struct IdentityPatched: Equatable, Sendable {
    /// Whose identity.
    public let user: UserID
    /// The operations in order; applying them again makes the same identity.
    public let patches: [IdentityPatch]

    /// What happened.
    public init(user: UserID, patches: [IdentityPatch]) {
        self.user = user
        self.patches = patches
    }
}

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

/// A user's block list changed.
public struct BlocksChanged: Equatable, Sendable {
    /// Whose list it is (R30).
    public let owner: UserID
    /// Who is blocked now and was not before, in the order of their bytes.
    public let added: [UserID]
    /// Who was blocked before and is not now, in the order of their bytes.
    public let removed: [UserID]
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(owner: UserID, added: [UserID], removed: [UserID], at moment: Timestamp) {
        self.owner = owner
        self.added = added
        self.removed = removed
        at = moment
    }
}
