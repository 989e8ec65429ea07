public import Messaging
import SQL

extension MessagingStore {
    /// Follows users. Unknown ones are created, and following a user again changes nothing.
    ///
    /// - Throws: `Rejection.notFound(.user)` for an unknown follower (ruling 19).
    public func follow(
        _ users: [UserID], by follower: UserID, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            let kept = try context.following(of: follower, among: users)
            let added = Set(users).subtracting(kept).sorted()
            guard !added.isEmpty else { return }
            try context.record(
                .followingChanged(FollowingChanged(follower: follower, added: added)))
        }
    }

    /// Unfollows a user, which stays followed while a conversation connects the two (ruling 19).
    ///
    /// - Throws: `Rejection.notFound(.user)` for an unknown follower (ruling 19).
    public func unfollow(
        _ user: UserID, by follower: UserID, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            guard try context.following(of: follower, among: [user]).contains(user) else {
                return
            }
            try context.record(
                .followingChanged(FollowingChanged(follower: follower, removed: [user])))
        }
    }
}

extension MutationContext {
    /// Which of the users are followed independently of conversations.
    fileprivate func following(
        of follower: UserID, among users: [UserID]
    ) throws -> Set<UserID> {
        try transaction.requireUser(follower, in: application)
        return try transaction.keptFollowing(of: follower, among: users, in: application)
    }
}

extension MessagingStore {
    /// Whether a user follows another, explicitly or through a conversation (platform-api §5.8).
    ///
    /// - Throws: `Rejection.notFound(.user)` for an unknown follower.
    public func isFollowing(
        _ user: UserID, by follower: UserID, in application: Application.ID
    ) async throws -> Bool {
        try await database.read { transaction in
            try transaction.requireUser(follower, in: application)
            return try transaction.follows(follower, user, in: application)
        }
    }

    /// A page of the users that a user follows, by ascending id.
    ///
    /// - Parameters:
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of users, at least 1.
    ///   - isCounted: Whether the page has the number of all of them.
    /// - Throws: `Rejection.notFound(.user)` for an unknown follower; `notFound(.identity)` for an `after`
    ///   that is not followed.
    public func following(
        of follower: UserID, after: UserID? = nil, limit: Int, isCounted: Bool = true,
        in application: Application.ID
    ) async throws -> ListPage<UserID> {
        try await database.read { transaction in
            let total = try transaction.followingCount(
                of: follower, ifCounted: isCounted, in: application)
            try transaction.requireFollowing(follower, after, in: application)
            let followed = try transaction.followed(
                by: follower, after: after, limit: limit, in: application)
            return ListPage(items: followed, total: total)
        }
    }

    /// A page of the users that a user follows, by ascending id, with their identities; otherwise as
    /// ``following(of:after:limit:isCounted:in:)``.
    public func followedUsers(
        of follower: UserID, after: UserID? = nil, limit: Int, isCounted: Bool = true,
        in application: Application.ID
    ) async throws -> ListPage<User> {
        try await database.read { transaction in
            let total = try transaction.followingCount(
                of: follower, ifCounted: isCounted, in: application)
            try transaction.requireFollowing(follower, after, in: application)
            let followed = try transaction.followed(
                by: follower, after: after, limit: limit, in: application)
            let users = try transaction.boundedPage(
                """
                SELECT \(raw: User.columns), CAST(LENGTH(i.metadata) AS BIGINT),
                    CAST(LENGTH(i.public_key) AS BIGINT)
                FROM identities i
                WHERE i.application = \(application) AND i.user_id \(in: followed)
                ORDER BY i.user_id
                """
            ) { row in
                try (row.optionalInt64(.index(User.columnCount)) ?? 0)
                    + (row.optionalInt64(.index(User.columnCount + 1)) ?? 0)
            } _: { row in
                try User(row)
            }
            return ListPage(items: users.items, total: total, isCut: users.isCut)
        }
    }
}

extension Transaction {
    /// A page of the users that a user follows, by ascending id.
    fileprivate func followed(
        by follower: UserID, after: UserID?, limit: Int, in application: Application.ID
    ) throws -> [UserID] {
        try rows(
            """
            \(.followed(by: follower, after: after, limit: limit, in: application))
            ORDER BY followed LIMIT \(limit)
            """
        ) { row in try row.user(0) }
    }

    /// The number of users that a user follows.
    ///
    /// - Throws: `Rejection.notFound(.user)`.
    func followingCount(of user: UserID, in application: Application.ID) throws -> Int64 {
        let count = try first(
            """
            SELECT following_count + (
                SELECT COUNT(DISTINCT b.user_id)
                \(.connectedInWide(user, in: application))
                    AND NOT EXISTS (
                        SELECT 1 FROM following f
                        WHERE f.application = a.application AND f.follower = a.user_id
                            AND f.followed = b.user_id
                    )
            )
            FROM identities
            WHERE application = \(application) AND user_id = \(user)
            """
        ) { row in try row.int64(0) }
        guard let count else { throw Rejection.notFound(.user) }
        return count
    }

    /// The same, or `nil` if the number is not needed.
    fileprivate func followingCount(
        of user: UserID, ifCounted isCounted: Bool, in application: Application.ID
    ) throws -> Int64? {
        if isCounted { return try followingCount(of: user, in: application) }
        try requireUser(user, in: application)
        return nil
    }

    /// Whether a user follows another.
    func follows(
        _ follower: UserID, _ user: UserID, in application: Application.ID
    ) throws -> Bool {
        try first(
            """
            SELECT 1 FROM following WHERE application = \(application)
                AND follower = \(follower) AND followed = \(user)
            UNION ALL
            SELECT 1 \(.connectedInWide(follower, in: application)) AND b.user_id = \(user)
            LIMIT 1
            """
        ) { row in try row.int64(0) } != nil
    }

    /// Checks that the last item of the previous page is in the list (platform-api §1.10).
    ///
    /// - Throws: `Rejection.notFound(.identity)`.
    func requireFollowing(
        _ follower: UserID, _ user: UserID?, in application: Application.ID
    ) throws {
        guard let user else { return }
        guard try follows(follower, user, in: application) else {
            throw Rejection.notFound(.identity)
        }
    }

    /// Which of the users are followed independently of conversations.
    func keptFollowing(
        of follower: UserID, among users: [UserID], in application: Application.ID
    ) throws -> Set<UserID> {
        var found: Set<UserID> = []
        for chunk in Set(users).sorted().chunks(of: 512) {
            found.formUnion(
                try rows(
                    """
                    SELECT followed FROM following
                    WHERE application = \(application) AND follower = \(follower)
                        AND followed \(in: chunk) AND is_kept = 1
                    UNION
                    SELECT b.user_id \(.connectedInWide(follower, beyond: true, in: application))
                        AND b.user_id \(in: chunk)
                    """
                ) { row in try row.user(0) })
        }
        return found
    }
}

extension Transaction {
    /// Whether a user has followed another through a wide conversation.
    func hasStayed(
        _ follower: UserID, with user: UserID, in application: Application.ID
    ) throws -> Bool {
        try first(
            """
            SELECT 1 FROM wide_stays a
            JOIN wide_stays b ON b.application = a.application AND b.conversation = a.conversation
            WHERE a.application = \(application) AND a.user_id = \(follower)
                AND b.user_id = \(user) AND \(.areTogether)
            LIMIT 1
            """
        ) { _ in true } == true
    }
}

extension SQL {
    /// The users that a user follows after one of them, in the column `followed`: at least the first ones.
    fileprivate static func followed(
        by follower: UserID, after: UserID?, limit: Int, in application: Application.ID
    ) -> SQL {
        """
        SELECT followed FROM (
            SELECT followed FROM following
            WHERE application = \(application) AND follower = \(follower)
                AND followed > \(after?.text ?? "")
            ORDER BY followed LIMIT \(limit)
        ) n
        UNION
        SELECT b.user_id \(connectedInWide(follower, in: application))
            AND b.user_id > \(after?.text ?? "")
        """
    }

    /// The users `b` that a user `a` follows through wide conversations: those that take part now, and those
    /// that took part at the same time, unless `a` has unfollowed them since (ruling 39).
    ///
    /// - Parameter isBeyond: Whether only those are selected that `a` follows beyond these conversations.
    fileprivate static func connectedInWide(
        _ follower: UserID, beyond isBeyond: Bool = false, in application: Application.ID
    ) -> SQL {
        let isNow: SQL = isBeyond ? "" : "OR (a.until IS NULL AND b.until IS NULL)"
        return """
            FROM wide_stays a CROSS JOIN wide_stays b
            LEFT JOIN unfollowed u ON u.application = a.application AND u.follower = a.user_id
                AND u.followed = b.user_id
            WHERE a.application = \(application) AND a.user_id = \(follower)
                AND b.application = a.application AND b.conversation = a.conversation
                AND b.user_id <> a.user_id AND \(areTogether)
                AND (u.event IS NULL OR a.sees_since > u.event OR b.since > u.event \(isNow))
            """
    }

    /// Whether `a` saw a wide conversation while `b` took part.
    fileprivate static var areTogether: SQL {
        """
        a.sees_since < COALESCE(b.until, \(Int64.max)) AND b.since < COALESCE(a.until, \(Int64.max))
        """
    }
}
