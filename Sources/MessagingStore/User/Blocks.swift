public import Messaging
import SQL

extension MessagingStore {
    /// The users that a user blocks, by ascending id; empty for an unknown user (R30).
    public func blocks(
        of owner: UserID, in application: Application.ID
    ) async throws -> [BasicIdentity] {
        try await database.read { transaction in
            let blocked = try transaction.blocks(of: owner, among: nil, in: application)
            let identities = try transaction.identities(of: blocked, in: application)
            return blocked.sorted().compactMap { user in identities[user] }
        }
    }
}

extension Transaction {
    /// The users that a user blocks.
    ///
    /// - Parameter users: The users to look for; `nil` for the whole list.
    func blocks(
        of owner: UserID, among users: [UserID]?, in application: Application.ID
    ) throws -> Set<UserID> {
        guard let users else {
            return Set(
                try rows(
                    """
                    SELECT blocked FROM blocks
                    WHERE application = \(application) AND owner = \(owner)
                    """
                ) { row in try row.user(0) })
        }
        var found: Set<UserID> = []
        for chunk in Set(users).sorted().chunks(of: 512) {
            found.formUnion(
                try rows(
                    """
                    SELECT blocked FROM blocks
                    WHERE application = \(application) AND owner = \(owner)
                        AND blocked \(in: chunk)
                    """
                ) { row in try row.user(0) })
        }
        return found
    }

    /// The number of users that a user blocks: at most 10,000, counted in their index.
    func blockCount(of owner: UserID, in application: Application.ID) throws -> Int {
        try first(
            "SELECT COUNT(*) FROM blocks WHERE application = \(application) AND owner = \(owner)"
        ) { row in try row.int(0) } ?? 0
    }

    /// The periods in which a user blocked others, by blocked user and beginning.
    func blockPeriods(
        of owner: UserID, in application: Application.ID
    ) throws -> [ArchivedRelations.BlockPeriod] {
        try rows(
            """
            SELECT blocked, since, NULL FROM blocks
            WHERE application = \(application) AND owner = \(owner)
            UNION ALL
            SELECT blocked, since, until FROM past_blocks
            WHERE application = \(application) AND owner = \(owner)
            """
        ) { row in
            ArchivedRelations.BlockPeriod(
                try row.user(0), since: try row.timestamp(1), until: try row.optionalTimestamp(2))
        }.sorted { left, right in
            (left.user, left.since) < (right.user, right.since)
        }
    }
}

extension MutationContext {
    /// Checks that a user adds no user that they block to a conversation (R31), except themselves (R30).
    ///
    /// - Throws: `Rejection.participantBlocked`.
    func rejectBlocked(_ users: [UserID], by user: UserID) throws {
        let others = users.filter { other in other != user }
        guard try transaction.blocks(of: user, among: others, in: application).isEmpty else {
            throw Rejection.participantBlocked
        }
    }
}
