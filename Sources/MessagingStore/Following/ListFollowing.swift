public import Messaging
import SQL

extension MessagingStore {
    /// Whether a user follows another, by will or through a conversation (platform-api §5.8).
    ///
    /// - Throws: `Rejection.notFound(.user)` for a follower nobody has named.
    public func isFollowing(
        _ user: UserID, by follower: UserID, in application: Application.ID
    ) async throws -> Bool {
        try await database.read { transaction in
            try transaction.requireUser(follower, in: application)
            return try transaction.follows(follower, user, in: application)
        }
    }

    /// A page of those a user follows, in the order of their ids.
    ///
    /// - Parameters:
    ///   - after: The one before the page; `nil` for the first page.
    ///   - limit: Most users, from one.
    /// - Throws: `Rejection.notFound(.user)` for a follower nobody has named;
    ///   `notFound(.identity)` for an `after` he does not follow.
    public func following(
        of follower: UserID, after: UserID? = nil, limit: Int, in application: Application.ID
    ) async throws -> Page<UserID> {
        try await database.read { transaction in
            let total = try transaction.followingCount(of: follower, in: application)
            try transaction.requireFollowing(follower, after, in: application)
            return Page(
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

    /// The same page, with all that is known of them.
    public func followedUsers(
        of follower: UserID, after: UserID? = nil, limit: Int, in application: Application.ID
    ) async throws -> Page<User> {
        try await database.read { transaction in
            let total = try transaction.followingCount(of: follower, in: application)
            try transaction.requireFollowing(follower, after, in: application)
            let users = try transaction.stretch(
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
            return Page(items: users.items, total: total, isCut: users.isCut)
        }
    }
}
