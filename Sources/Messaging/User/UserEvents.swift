/// An identity was created or replaced as a whole.
public struct IdentityReplaced: EventPayload {
    /// The new identity.
    public let identity: Identity

    /// All members.
    public init(identity: Identity) {
        self.identity = identity
    }

    /// The type of the event.
    public var type: EventType { .identityReplaced }

    /// The user.
    public var namedUsers: [UserID] { [identity.userID] }
}

/// Members of an identity were set.
public struct IdentityPatched: EventPayload {
    /// The user.
    public let user: UserID
    /// The operations in order.
    public let patches: [IdentityPatch]

    /// All members.
    public init(user: UserID, patches: [IdentityPatch]) {
        self.user = user
        self.patches = patches
    }

    /// The type of the event.
    public var type: EventType { .identityPatched }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}

/// An identity was deleted; the user remains without names.
public struct IdentityDeleted: EventPayload {
    /// The user.
    public let user: UserID

    /// All members.
    public init(user: UserID) {
        self.user = user
    }

    /// The type of the event.
    public var type: EventType { .identityDeleted }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}

/// A user followed or unfollowed others.
///
/// Following through shared conversations is not an event.
public struct FollowingChanged: EventPayload {
    /// The user that follows.
    public let follower: UserID
    /// The users followed from now on, whether or not a conversation connects them, sorted by bytes.
    public let added: [UserID]
    /// The users no longer followed, unless a conversation connects them (ruling 19), sorted by bytes.
    public let removed: [UserID]

    /// All members.
    public init(follower: UserID, added: [UserID] = [], removed: [UserID] = []) {
        self.follower = follower
        self.added = added
        self.removed = removed
    }

    /// The type of the event.
    public var type: EventType { .followingChanged }

    /// The author of the change.
    public var author: EventActor? { .user(follower) }

    /// The users.
    public var namedUsers: [UserID] { [follower] + added + removed }
}

/// A user's block list changed.
public struct BlocksChanged: EventPayload {
    /// The user whose list it is (R30).
    public let owner: UserID
    /// The users blocked now and not before, sorted by bytes.
    public let added: [UserID]
    /// The users blocked before and not now, sorted by bytes.
    public let removed: [UserID]
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(owner: UserID, added: [UserID], removed: [UserID], at: Timestamp) {
        self.owner = owner
        self.added = added
        self.removed = removed
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .blocksChanged }

    /// The users.
    public var namedUsers: [UserID] { [owner] + added + removed }
}

/// The external count of a user's badge was set.
public struct BadgeSet: EventPayload {
    /// The user.
    public let user: UserID
    /// The new count.
    public let externalUnreadCount: Int64

    /// All members.
    public init(user: UserID, externalUnreadCount: Int64) {
        self.user = user
        self.externalUnreadCount = externalUnreadCount
    }

    /// The type of the event.
    public var type: EventType { .badgeSet }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}

/// A user was suspended, which ends all sessions, or resumed.
public struct UserSuspended: EventPayload {
    /// The user.
    public let user: UserID
    /// Whether the user is suspended now.
    public let isSuspended: Bool
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(user: UserID, isSuspended: Bool, at: Timestamp) {
        self.user = user
        self.isSuspended = isSuspended
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .userSuspended }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}

/// All sessions of a user were ended.
public struct SessionsEnded: EventPayload {
    /// The user.
    public let user: UserID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(user: UserID, at: Timestamp) {
        self.user = user
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .sessionsEnded }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}
