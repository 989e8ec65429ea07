import Messaging
import SQL

// Each change of a block list has a later time than the one before, also within one millisecond or when the clock is set
// back. A message stores the time of the last such change before it (`blocks_changed_at`). So a block was in force when
// the message was sent exactly if `since <= blocks_changed_at < until` (ruling 20).
extension Projection {
    /// Adds and removes blocks; removed ones are stored with the time of their end.
    func apply(_ change: BlocksChanged) throws {
        let moment = max(change.at, try blocksChangedAt().next)
        try setBlocksChangedAt(moment)
        try createUsers([change.owner])
        for chunk in change.removed.powerOfTwoChunks(upTo: 256) {
            let removed: SQL =
                """
                FROM blocks WHERE application = \(application)
                    AND owner = \(change.owner) AND blocked \(in: chunk)
                """
            try transaction.execute(
                """
                INSERT INTO past_blocks (application, owner, blocked, since, until)
                SELECT application, owner, blocked, since, \(moment) \(removed)
                ON CONFLICT (application, owner, blocked, since) DO UPDATE SET until = excluded.until
                """)
            try transaction.execute("DELETE \(removed)")
        }
        try createUsers(change.added)
        try block(change.added.map { user in (user, moment) }, by: change.owner)
    }

    /// Adds the blocks of an imported record.
    func importBlocks(_ archived: ArchivedRelations) throws {
        let ends = archived.blockPeriods.map { period in period.until ?? period.since }
        if let latest = ends.max(), try latest > blocksChangedAt() {
            try setBlocksChangedAt(latest)
        }
        let past = archived.blockPeriods.filter { period in period.until != nil }
        for chunk in past.powerOfTwoChunks(upTo: 256) {
            let rows = chunk.map { period -> [SQLValue] in
                [
                    application.bytes.sqlValue, archived.user.text.sqlValue,
                    period.user.text.sqlValue,
                    period.since.milliseconds.sqlValue,
                    period.until?.milliseconds.sqlValue ?? .null,
                ]
            }
            try transaction.execute(
                """
                INSERT INTO past_blocks (application, owner, blocked, since, until)
                VALUES \(rows: rows)
                ON CONFLICT (application, owner, blocked, since) DO NOTHING
                """)
        }
        let open = archived.blockPeriods.filter { period in period.until == nil }
        let known = Set(open.map(\.user))
        try createUsers(archived.blocked)
        try block(open.map { period in (period.user, period.since) }, by: archived.user)
        // A block whose start the record does not contain starts now.
        let undated = archived.blocked.filter { user in !known.contains(user) }
        guard !undated.isEmpty else { return }
        try apply(
            BlocksChanged(
                owner: archived.user, added: undated, removed: [], at: Timestamp(milliseconds: 0)))
    }

    private func block(_ users: [(user: UserID, since: Timestamp)], by owner: UserID) throws {
        for chunk in users.powerOfTwoChunks(upTo: 256) {
            let rows = chunk.map { user, since -> [SQLValue] in
                [
                    application.bytes.sqlValue, owner.text.sqlValue, user.text.sqlValue,
                    since.milliseconds.sqlValue,
                ]
            }
            try transaction.execute(
                """
                INSERT INTO blocks (application, owner, blocked, since) VALUES \(rows: rows)
                ON CONFLICT (application, owner, blocked) DO NOTHING
                """)
        }
    }

    /// The time of the last change to a block list of the application.
    func blocksChangedAt() throws -> Timestamp {
        try transaction.queryLogEnd(in: application).first()?.blocksChangedAt
            ?? LogEnd().blocksChangedAt
    }

    private func setBlocksChangedAt(_ moment: Timestamp) throws {
        var end = try transaction.queryLogEnd(in: application).first() ?? LogEnd()
        end.blocksChangedAt = moment
        try transaction.execute(
            """
            INSERT INTO log_positions (application, position, blocks_changed_at)
            VALUES (\(application), \(end.position), \(moment))
            ON CONFLICT (application) DO UPDATE SET blocks_changed_at = excluded.blocks_changed_at
            """)
        transaction.cache(end, for: LogEnd.cacheKey(of: application))
    }

    /// Hides messages from an added user that were sent while a block between the user and the sender was in
    /// force.
    ///
    /// - Parameter last: Only messages after this position are hidden; up to it the user was a participant before.
    /// - Returns: The number of messages hidden now, and whether every message of the conversation was sent during a
    ///   block: then the conversation stays out of the view.
    func hideBlocked(
        from user: UserID, in conversation: Conversation.ID, after last: Position
    ) throws -> (count: Int64, isAll: Bool) {
        let byUser: SQL =
            "WHERE application = \(application) AND owner = \(user) AND blocked <> \(user)"
        let againstUser: SQL =
            "WHERE application = \(application) AND blocked = \(user) AND owner <> \(user)"
        let hasBlocks = try transaction.first(
            """
            SELECT 1 FROM blocks \(byUser) UNION ALL SELECT 1 FROM blocks \(againstUser)
            UNION ALL SELECT 1 FROM past_blocks \(byUser)
            UNION ALL SELECT 1 FROM past_blocks \(againstUser)
            LIMIT 1
            """
        ) { _ in true }
        guard hasBlocks == true else { return (0, false) }
        let messages: SQL =
            "FROM messages m WHERE m.application = \(application) AND m.conversation = \(conversation)"
        let count = try transaction.rowsChanged(
            by: """
                INSERT INTO hidden_messages (application, conversation, position, user_id)
                SELECT m.application, m.conversation, m.position, \(user) \(messages)
                    AND m.position > \(last) AND \(Self.sentDuringBlock(of: user))
                """)
        let other = try transaction.first(
            "SELECT 1 \(messages) AND NOT \(Self.sentDuringBlock(of: user)) LIMIT 1"
        ) { _ in true }
        let any = try transaction.first("SELECT 1 \(messages) LIMIT 1") { _ in true }
        return (Int64(count), any != nil && other == nil)
    }

    /// Whether a block between a user and the sender of message `m` was in force when it was sent.
    private static func sentDuringBlock(of user: UserID) -> SQL {
        let pair: SQL =
            """
            b.application = m.application AND b.owner <> b.blocked
                AND (
                    (b.owner = \(user) AND b.blocked = m.sender_user)
                    OR (b.owner = m.sender_user AND b.blocked = \(user))
                )
                AND b.since <= m.blocks_changed_at
            """
        return """
            (
                EXISTS (SELECT 1 FROM blocks b WHERE \(pair))
                OR EXISTS (
                    SELECT 1 FROM past_blocks b WHERE \(pair) AND m.blocks_changed_at < b.until
                )
            )
            """
    }
}
