/// A user with the values that the server stores for them.
public struct ArchivedUser: Equatable, Sendable {
    /// The user with the identity.
    public let user: User
    /// The external unread count of the user's badge.
    public let externalUnreadCount: Int64
    /// The moment when the user was first named; `nil` for the moment of the import.
    public let createdAt: Timestamp?

    /// All members.
    public init(_ user: User, externalUnreadCount: Int64, createdAt: Timestamp?) {
        self.user = user
        self.externalUnreadCount = externalUnreadCount
        self.createdAt = createdAt
    }
}

/// The users that a user follows and blocks.
public struct ArchivedRelations: Equatable, Sendable {
    /// The user.
    public let user: UserID
    /// The users followed explicitly or through a conversation, sorted by bytes.
    public let followed: [UserID]
    /// The blocked users, sorted by bytes.
    public let blocked: [UserID]
    /// The periods of the user's blocks, sorted by blocked user and start.
    public let blockPeriods: [BlockPeriod]

    /// A period during which a user was or is blocked.
    public struct BlockPeriod: Hashable, Sendable {
        /// The blocked user.
        public let user: UserID
        /// The first moment of the period, compared with ``ArchivedMessage/blocksChangedAt``.
        public let since: Timestamp
        /// The first moment after the period; `nil` for a user in ``ArchivedRelations/blocked``.
        public let until: Timestamp?

        /// All members.
        public init(_ user: UserID, since: Timestamp, until: Timestamp?) {
            self.user = user
            self.since = since
            self.until = until
        }
    }

    /// All members.
    public init(
        _ user: UserID, followed: [UserID] = [], blocked: [UserID] = [],
        blockPeriods: [BlockPeriod] = []
    ) {
        self.user = user
        self.followed = followed
        self.blocked = blocked
        self.blockPeriods = blockPeriods
    }
}
