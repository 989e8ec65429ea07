/// Whom a user follows, whether they share a conversation or not, and whom he blocks.
public struct MovedRelations: Equatable, Sendable {
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
        /// The first moment; compared with ``MovedMessage/blocksChangedAt``.
        public let since: Timestamp
        /// The first moment after it; `nil` for one of ``MovedRelations/blocked``.
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
