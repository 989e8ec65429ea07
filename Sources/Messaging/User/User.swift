/// A user, who exists from being named on (R90), and what the server keeps of him.
public struct User: Equatable, Sendable {
    /// How he comes to have an identity.
    public enum IdentityStatus: Int64, Sendable {
        /// He has none: it was deleted, or nothing that named him makes one.
        case unknown = 0
        /// Being named made him one without names (rulings 10).
        case named = 1
        /// The application has told who he is.
        case provided = 2
    }

    /// His identity; without names where there is none.
    public let identity: Identity
    /// How he comes to have it.
    public let identityStatus: IdentityStatus
    /// Rises with each change of the identity, its deletion included (X4).
    public let identityVersion: Int64
    /// Whether he may not log in (R93).
    public let isSuspended: Bool
    /// Sessions that began up to then have ended (R92); `nil` when none was ever ended.
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

    /// The application's name of him.
    public var id: UserID { identity.userID }

    /// His identity; `nil` where there is none (platform-api §3.8).
    public var knownIdentity: Identity? { identityStatus == .unknown ? nil : identity }
}

/// One operation on a user (platform-api §5.9, §5.11).
public enum UserPatch: Equatable, Sendable {
    /// Blocks somebody, also who is unknown, and himself (R30).
    case block(UserID)
    /// Lifts a block; who is not blocked is no mistake.
    case unblock(UserID)
    /// Replaces the whole block list.
    case setBlocks([UserID])
    /// Suspends the user, or sets him free (platform-api §5.11).
    case suspend(Bool)

    /// Most users somebody blocks (proposed): the list is answered whole, and replaced at once.
    public static let blockLimit = 10_000

    /// Whom the operation names.
    public var named: [UserID] {
        switch self {
        case .block(let user), .unblock(let user): [user]
        case .setBlocks(let users): users
        case .suspend: []
        }
    }
}

extension [UserPatch] {
    /// Whether the outcome depends on nobody but those who are named.
    public var keepsOtherBlocks: Bool {
        allSatisfy { patch in if case .setBlocks = patch { false } else { true } }
    }

    /// Decides the changes of a block list: all operations in order, then compared with what was.
    ///
    /// - Parameters:
    ///   - owner: Whose list it is.
    ///   - before: Whom he blocks; of those nobody names only where a patch replaces the list.
    ///   - count: How many he blocks in all.
    /// - Returns: `nil` when the list comes out as it was.
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

    /// Decides a suspension: the last operation counts, then it is compared with what was.
    public func changing(suspensionOf user: UserID, from before: Bool, at now: Timestamp) -> Event?
    {
        let after = reduce(before) { isSuspended, patch in
            if case .suspend(let isSuspended) = patch { isSuspended } else { isSuspended }
        }
        return after == before
            ? nil : .userSuspended(UserSuspended(user: user, isSuspended: after, at: now))
    }
}

/// What a user's devices show as unread (R63, platform-api §5.10).
public struct Badge: Equatable, Sendable {
    /// What the application counts elsewhere.
    public let externalUnreadCount: Int64
    /// Conversations with a message he has not read.
    public let unreadConversationCount: Int64
    /// Messages he has not read.
    public let unreadMessageCount: Int64

    /// The external counts there are: what an import takes, too (ruling 25).
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
