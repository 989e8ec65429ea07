import Messaging
import SQL

extension MovedRecords {
    func users(after last: MovedUser?) throws -> [MovedUser] {
        try transaction.rows(
            """
            SELECT \(raw: User.columns), i.external_unread_count, i.created_at
            FROM identities i
            WHERE i.application = \(application) AND i.user_id > \(last?.user.id.text ?? "")
            ORDER BY i.user_id LIMIT \(Self.stretch)
            """
        ) { row in
            MovedUser(
                try User(row), externalUnreadCount: try row.int64(14),
                createdAt: try row.timestamp(15))
        }
    }

    /// Only of users who follow or block others, or blocked them before.
    func relations(after last: MovedRelations?) throws -> [MovedRelations] {
        let users = try transaction.rows(
            """
            SELECT i.user_id FROM identities i
            WHERE i.application = \(application) AND i.user_id > \(last?.user.text ?? "") AND (
                EXISTS (
                    SELECT 1 FROM following f
                    WHERE f.application = i.application AND f.follower = i.user_id AND f.is_kept = 1
                ) OR EXISTS (
                    SELECT 1 FROM blocks b
                    WHERE b.application = i.application AND b.owner = i.user_id
                ) OR EXISTS (
                    SELECT 1 FROM past_blocks b
                    WHERE b.application = i.application AND b.owner = i.user_id
                )
            )
            ORDER BY i.user_id LIMIT \(Self.stretch)
            """
        ) { row in try row.user(0) }
        return try users.map { user in
            let periods = try transaction.blockPeriods(of: user, in: application)
            return MovedRelations(
                user, followed: try followed(by: user),
                blocked: periods.filter { period in period.until == nil }.map(\.user),
                blockPeriods: periods)
        }
    }

    private func followed(by user: UserID) throws -> [UserID] {
        try transaction.rows(
            """
            SELECT followed FROM following
            WHERE application = \(application) AND follower = \(user) AND is_kept = 1
            ORDER BY followed
            """
        ) { row in try row.user(0) }
    }
}
