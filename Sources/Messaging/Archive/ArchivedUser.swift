/// A user with what the server keeps of him.
public struct ArchivedUser: Equatable, Sendable {
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

/// Whom a user follows, whether they share a conversation or not, and whom he blocks.
public struct ArchivedRelations: Equatable, Sendable {
    /// The user.
    public let user: UserID
    /// Whom he follows by will, or since they met; in the order of their names' bytes.
    public let followed: [UserID]
    /// Whom he blocks, in the same order.
    public let blocked: [UserID]
    /// When blocks of theirs were in force, by the blocked user and the beginning.
    public let blockPeriods: [BlockPeriod]

    /// A time during which a user was, or is, blocked.
    public struct BlockPeriod: Hashable, Sendable {
        /// The blocked user.
        public let user: UserID
        /// The first moment; compared with ``ArchivedMessage/blocksChangedAt``.
        public let since: Timestamp
        /// The first moment after it; `nil` for one of ``ArchivedRelations/blocked``.
        public let until: Timestamp?

        /// A period as stored.
        public init(_ user: UserID, since: Timestamp, until: Timestamp?) {
            self.user = user
            self.since = since
            self.until = until
        }
    }

    /// What a user wants of others.
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
