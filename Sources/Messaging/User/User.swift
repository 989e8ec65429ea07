/// A user, which exists from the first time a request names it (R90).
public struct User: Equatable, Sendable {
    /// How the user got an identity.
    public enum IdentityStatus: Int64, Sendable {
        /// There is none: it was deleted, or the request that first named the user does not create identities.
        case unknown = 0
        /// It was created without names when a request first named the user (ruling 10).
        case named = 1
        /// The application set it.
        case provided = 2
    }

    /// The identity; without names if there is none.
    public let identity: Identity
    /// How the user got the identity.
    public let identityStatus: IdentityStatus
    /// The version of the identity, which rises with each change and with its deletion (X4).
    public let identityVersion: Int64
    /// Whether the user may not log in (R93).
    public let isSuspended: Bool
    /// When all sessions were last ended: those that began at this time or earlier are invalid (R92); `nil` for never.
    public let sessionsEndedAt: Timestamp?

    /// A user as stored.
    public init(
        identity: Identity, identityStatus: IdentityStatus, identityVersion: Int64,
        isSuspended: Bool,
        sessionsEndedAt: Timestamp?
    ) {
        self.identity = identity
        self.identityStatus = identityStatus
        self.identityVersion = identityVersion
        self.isSuspended = isSuspended
        self.sessionsEndedAt = sessionsEndedAt
    }

    /// The id that the application gave.
    public var id: UserID { identity.userID }

    /// The identity; `nil` if there is none (platform-api §3.8).
    public var knownIdentity: Identity? { identityStatus == .unknown ? nil : identity }
}

/// One operation on a user (platform-api §5.9, §5.11).
public enum UserPatch: Equatable, Sendable {
    /// Blocks a user, which may not exist yet, or be the owner of the list (R30).
    case block(UserID)
    /// Unblocks a user, if blocked.
    case unblock(UserID)
    /// Replaces the whole block list.
    case setBlocks([UserID])
    /// Suspends or resumes the user (platform-api §5.11).
    case suspend(Bool)

    /// The maximum number of blocked users (proposed): the list is returned as a whole and replaced at
    /// once.
    public static let blockLimit = 10_000

    /// The users that the operation names.
    public var named: [UserID] {
        switch self {
        case .block(let user), .unblock(let user): [user]
        case .setBlocks(let users): users
        case .suspend: []
        }
    }
}

extension [UserPatch] {
    /// Whether the operations change only the blocks of the users they name, so that other blocks need not be known.
    public var keepsOtherBlocks: Bool {
        allSatisfy { patch in if case .setBlocks = patch { false } else { true } }
    }

    /// Returns the event of changing a block list: all operations are applied in order, then the result is compared
    /// with the former list.
    ///
    /// - Parameters:
    ///   - owner: The user whose list it is.
    ///   - before: The blocked users: all of them if an operation replaces the list, else at least those that
    ///     operations name.
    ///   - count: The number of all blocked users.
    /// - Returns: `nil` if the list does not change.
    /// - Throws: `invalid("blocks")` for a list that grows beyond ``UserPatch/blockLimit``.
    public func changing(
        blocksOf owner: UserID, from before: Set<UserID>, of count: Int, at now: Timestamp
    ) throws(Rejection) -> Event? {
        var after = before
        for patch in self {
            switch patch {
            case .block(let user): after.insert(user)
            case .unblock(let user): after.remove(user)
            case .setBlocks(let users): after = Set(users)
            case .suspend: break
            }
        }
        guard after != before else { return nil }
        guard
            after.count <= before.count
                || count - before.count + after.count <= UserPatch.blockLimit
        else {
            throw .invalid(
                "blocks", .blockCount, .init(amount: count - before.count + after.count))
        }
        return .blocksChanged(
            BlocksChanged(
                owner: owner, added: after.subtracting(before).sorted(),
                removed: before.subtracting(after).sorted(), at: now))
    }

    /// Returns the event of the last suspension operation; `nil` if it changes nothing.
    public func changing(suspensionOf user: UserID, from before: Bool, at now: Timestamp) -> Event?
    {
        let after = reduce(before) { isSuspended, patch in
            if case .suspend(let isSuspended) = patch { isSuspended } else { isSuspended }
        }
        return after == before
            ? nil : .userSuspended(UserSuspended(user: user, isSuspended: after, at: now))
    }
}

/// The unread counts of a user (R63, platform-api §5.10).
public struct Badge: Equatable, Sendable {
    /// The unread count that the application sets for other sources.
    public let externalUnreadCount: Int64
    /// The number of conversations with unread messages.
    public let unreadConversationCount: Int64
    /// The number of unread messages.
    public let unreadMessageCount: Int64

    /// The allowed external counts, also in an import (ruling 25).
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
