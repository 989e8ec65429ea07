public import Messaging
import SQL

extension MessagingStore {
    /// Follows users. Unknown ones are created, and following a user again changes nothing.
    ///
    /// - Throws: `Rejection.notFound(.user)` for an unknown follower (rulings 19).
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

    /// Unfollows a user, which stays followed while a conversation connects the two (rulings 19).
    ///
    /// - Throws: `Rejection.notFound(.user)` for an unknown follower (rulings 19).
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
    /// - Throws: `Rejection.notFound(.user)` for an unknown follower; `notFound(.identity)` for an `after`
    ///   that is not followed.
    public func following(
        of follower: UserID, after: UserID? = nil, limit: Int, in application: Application.ID
    ) async throws -> ListPage<UserID> {
        try await database.read { transaction in
            let total = try transaction.followingCount(of: follower, in: application)
            try transaction.requireFollowing(follower, after, in: application)
            return ListPage(
                items: try transaction.rows(
                    """
                    SELECT followed FROM following
                    WHERE application = \(application) AND follower = \(follower)
                        AND followed > \(after?.text ?? "")
                    ORDER BY followed LIMIT \(limit)
                    """
                ) { row in try row.user(0) }, total: total)
        }
    }

    /// A page of the users that a user follows, by ascending id, with their identities; otherwise as
    /// ``following(of:after:limit:in:)``.
    public func followedUsers(
        of follower: UserID, after: UserID? = nil, limit: Int, in application: Application.ID
    ) async throws -> ListPage<User> {
        try await database.read { transaction in
            let total = try transaction.followingCount(of: follower, in: application)
            try transaction.requireFollowing(follower, after, in: application)
            let users = try transaction.boundedPage(
                """
                SELECT \(raw: User.columns), CAST(LENGTH(i.metadata) AS BIGINT),
                    CAST(LENGTH(i.public_key) AS BIGINT)
                FROM following f
                JOIN identities i ON i.application = f.application AND i.user_id = f.followed
                WHERE f.application = \(application) AND f.follower = \(follower)
                    AND f.followed > \(after?.text ?? "")
                ORDER BY f.followed LIMIT \(limit)
                """
            ) { row in
                try (row.optionalInt64(14) ?? 0) + (row.optionalInt64(15) ?? 0)
            } _: { row in
                try User(row)
            }
            return ListPage(items: users.items, total: total, isCut: users.isCut)
        }
    }
}

extension Transaction {
    /// The number of users that a user follows.
    ///
    /// - Throws: `Rejection.notFound(.user)`.
    func followingCount(of user: UserID, in application: Application.ID) throws -> Int64 {
        let count = try first(
            """
            SELECT following_count FROM identities
            WHERE application = \(application) AND user_id = \(user)
            """
        ) { row in try row.int64(0) }
        guard let count else { throw Rejection.notFound(.user) }
        return count
    }

    /// Whether a user follows another.
    func follows(
        _ follower: UserID, _ user: UserID, in application: Application.ID
    ) throws -> Bool {
        try first(
            """
            SELECT 1 FROM following WHERE application = \(application)
                AND follower = \(follower) AND followed = \(user)
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
                    """
                ) { row in try row.user(0) })
        }
        return found
    }
}
