public import Messaging

extension MessagingStore {
    /// Makes a user follow others; who is unknown comes into being, and following twice is once.
    ///
    /// - Throws: `Rejection.notFound(.user)` for a follower nobody has named (rulings 19).
    public func follow(
        _ users: [UserID], by follower: UserID, in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            let kept = try recording.following(of: follower, among: users)
            let added = Set(users).subtracting(kept).sorted()
            guard !added.isEmpty else { return }
            try recording.record(
                .followingChanged(FollowingChanged(follower: follower, added: added)))
        }
    }

    /// Takes back that a user follows another; while a conversation connects them he still does
    /// (rulings 19).
    ///
    /// - Throws: `Rejection.notFound(.user)` for a follower nobody has named (rulings 19).
    public func unfollow(
        _ user: UserID, by follower: UserID, in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            guard try recording.following(of: follower, among: [user]).contains(user) else {
                return
            }
            try recording.record(
                .followingChanged(FollowingChanged(follower: follower, removed: [user])))
        }
    }
}

extension Recording {
    /// Whom of some a user follows, also where no conversation connects them.
    fileprivate func following(
        of follower: UserID, among users: [UserID]
    ) throws -> Set<UserID> {
        try transaction.requireUser(follower, in: application)
        return try transaction.keptFollowing(of: follower, among: users, in: application)
    }
}
