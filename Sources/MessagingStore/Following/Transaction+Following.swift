import Messaging
import SQL

extension Transaction {
    /// How many a user follows.
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

    /// The place of a page is somebody in the list (platform-api §1.10).
    func requireFollowing(
        _ follower: UserID, _ user: UserID?, in application: Application.ID
    ) throws {
        guard let user else { return }
        guard try follows(follower, user, in: application) else {
            throw Rejection.notFound(.identity)
        }
    }

    /// Whom of some a user follows, also where no conversation connects them.
    func keptFollowing(
        of follower: UserID, among users: [UserID], in application: Application.ID
    ) throws -> Set<UserID> {
        var found: Set<UserID> = []
        for few in Set(users).sorted().chunks(of: 512) {
            found.formUnion(
                try rows(
                    """
                    SELECT followed FROM following
                    WHERE application = \(application) AND follower = \(follower)
                        AND followed IN (\(few: few.map(\.text))) AND is_kept = 1
                    """
                ) { row in try row.user(0) })
        }
        return found
    }
}
