import Messaging
import SQL

extension Projection {
    /// Applies explicit following and unfollowing. An unfollowed user stays followed while a conversation connects the
    /// two (ruling 19).
    func apply(_ change: FollowingChanged) throws {
        for user in change.added {
            try createNamedUser(user)
            try forgetUnfollowing(of: user, by: change.follower)
            let isNew =
                try transaction.rowsChanged(
                    by:
                        """
                        INSERT INTO following (application, follower, followed, is_kept, event)
                        VALUES (\(application), \(change.follower), \(user), 1, \(position))
                        ON CONFLICT (application, follower, followed) DO NOTHING
                        """) > 0
            if isNew {
                try countFollowing(of: [change.follower], by: 1)
            } else {
                try setKept(user, followedBy: change.follower, true)
            }
        }
        for user in change.removed {
            try setKept(user, followedBy: change.follower, false)
            let isGone =
                try transaction.rowsChanged(
                    by:
                        """
                        DELETE FROM following WHERE application = \(application)
                            AND follower = \(change.follower) AND followed = \(user)
                            AND NOT \(isConnected())
                        """) > 0
            if isGone {
                try countFollowing(of: [change.follower], by: -1)
                touchUnfollowed(user, by: change.follower)
            }
            if try transaction.hasStayed(change.follower, with: user, in: application) {
                try remember(unfollowed: user, by: change.follower)
            }
        }
    }

    private func touchUnfollowed(_ user: UserID, by follower: UserID) {
        touch(.unfollowed, Array(user.text.utf8), of: follower, isGone: true)
    }

    /// Makes added participants of a conversation and all its participants follow each other (platform-api §5.8).
    ///
    /// A participant that has not seen the conversation follows no user through it, because the list of followed
    /// users would reveal its creator (R51, R33); see ``connect(seeing:of:)``. The number of statements does not
    /// depend on the number of participants. A wide conversation has no row for each pair: its participants have a
    /// row each, from which the pairs are computed when they are read (ruling 39).
    ///
    /// - Parameter isKept: Whether they still follow each other when they no longer share the conversation.
    func connect(
        _ joined: [UserID], among participants: [UserID], of conversation: Conversation,
        isKept: Bool = true
    ) throws {
        guard !joined.isEmpty else { return }
        guard !conversation.isWide else { return try beginStays(joined, in: conversation.id) }
        guard participants.count > 1 else { return }
        try connect(
            "a.state <> 'unseen' AND \(oneOf: joined, among: participants)", joined + participants,
            of: conversation.id, isKept: isKept)
    }

    /// Makes the participants of a new conversation follow each other.
    ///
    /// The same as ``connect(_:among:of:isKept:)``, with a few statements for all new conversations of a commit.
    ///
    /// - Parameters:
    ///   - new: Those that were created with the number of the others as that of the users they follow.
    ///   - isKept: Whether they still follow each other when they no longer share the conversation.
    func connectAll(_ participants: [UserID], new: Set<UserID> = [], isKept: Bool = true) {
        let row = RowCacheKey<SharedConversations>(
            of: application.bytes, in: "following", aspect: [isKept ? 1 : 0])
        if let shared = transaction.deferred(row) {
            return shared.add(participants, new, at: position)
        }
        let shared = SharedConversations(isKept: isKept)
        shared.add(participants, new, at: position)
        transaction.deferWrites(shared, of: row) { [application] in
            shared.statements(in: application)
        }
    }

    /// Connects participants of a wide conversation from now on.
    private func beginStays(_ users: [UserID], in conversation: Conversation.ID) throws {
        for chunk in users.chunks(of: 4096) {
            try transaction.execute(
                """
                INSERT INTO wide_stays (application, conversation, user_id, since, sees_since)
                SELECT application, conversation, user_id, \(position),
                    CASE WHEN state <> 'unseen' THEN \(position) END
                FROM participants
                WHERE application = \(application) AND conversation = \(conversation)
                    AND user_id \(in: chunk)
                """)
        }
    }

    /// Ends the connection of participants by a wide conversation.
    private func endStays(_ users: [UserID], in conversation: Conversation.ID) throws {
        for chunk in users.chunks(of: 4096) {
            try transaction.execute(
                """
                UPDATE wide_stays SET until = \(position)
                WHERE application = \(application) AND conversation = \(conversation)
                    AND user_id \(in: chunk) AND until IS NULL
                """)
        }
    }

    /// Stores that a user does not follow another beyond the wide conversations that connect them now.
    private func remember(unfollowed user: UserID, by follower: UserID) throws {
        try transaction.execute(
            """
            INSERT INTO unfollowed (application, follower, followed, event)
            VALUES (\(application), \(follower), \(user), \(position))
            ON CONFLICT (application, follower, followed) DO UPDATE SET event = excluded.event
            """)
    }

    /// Stores it for the participants of a conversation that becomes wide.
    func rememberUnfollowed(in conversation: Conversation.ID) throws {
        try transaction.execute(
            """
            INSERT INTO unfollowed (application, follower, followed, event)
            SELECT f.application, f.follower, f.followed, \(position)
            \(pairs(of: conversation, with: "CROSS JOIN following f", where: """
                a.state <> 'unseen' AND f.application = a.application AND f.follower = a.user_id
                    AND f.followed = b.user_id AND f.is_kept = 0
                """))
            ON CONFLICT (application, follower, followed) DO UPDATE SET event = excluded.event
            """)
    }

    private func forgetUnfollowing(of user: UserID, by follower: UserID) throws {
        try transaction.execute(
            """
            DELETE FROM unfollowed WHERE application = \(application)
                AND follower = \(follower) AND followed = \(user)
            """)
    }

    /// The current participants of a conversation that have not seen it yet.
    func participantsNotSeeing(of conversation: Conversation.ID) throws -> [UserID] {
        try transaction.rows(
            """
            SELECT user_id FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
                AND left_after IS NULL AND state = 'unseen'
            """
        ) { row in try row.user(0) }
    }

    /// Makes participants that see a conversation for the first time follow all others in it.
    ///
    /// - Parameter users: Current participants that ``connect(_:among:of:isKept:)`` has left out.
    func connect(seeing users: [UserID], of conversation: Conversation.ID) throws {
        guard !users.isEmpty else { return }
        let isWide =
            try transaction.queryLocked(conversation, in: application).first()?.isWide == true
        guard !isWide else {
            for chunk in users.chunks(of: 4096) {
                try transaction.execute(
                    """
                    UPDATE wide_stays SET sees_since = \(position)
                    WHERE application = \(application) AND conversation = \(conversation)
                        AND user_id \(in: chunk) AND until IS NULL AND sees_since IS NULL
                    """)
            }
            return
        }
        try connect("a.user_id \(in: users)", users, of: conversation)
    }

    /// Makes the first participant of each pair follow the second.
    ///
    /// The new pairs are counted by a statement before the insertion, so that no statement needs the result of
    /// another one and all are sent in one round trip.
    ///
    /// - Parameters:
    ///   - condition: Selects the pairs; see ``pairs(of:with:where:)``.
    ///   - followers: The users whose rows the statements may change; all first participants must be among them.
    private func connect(
        _ condition: SQL, _ followers: [UserID], of conversation: Conversation.ID,
        isKept: Bool = true
    ) throws {
        let pairs = pairs(of: conversation, where: condition)
        let participants = RowKey.conversation(conversation, in: application, "participants")
        let new: SQL =
            """
            \(pairs) AND NOT EXISTS (
                SELECT 1 FROM following f
                WHERE f.application = a.application AND f.follower = a.user_id
                    AND f.followed = b.user_id
            )
            """
        try transaction.execute(
            """
            UPDATE identities SET following_count = following_count + (
                SELECT COUNT(*) \(new) AND a.user_id = identities.user_id
            )
            WHERE application = \(application) AND user_id IN (SELECT a.user_id \(new))
            """,
            reading: Set(followers).map { user in .user(user, in: application) } + [participants])
        // Rows that stay as they are cost a lookup and no write.
        let changed: SQL =
            """
            \(pairs) AND (
                SELECT COUNT(*) FROM following f
                WHERE f.application = a.application AND f.follower = a.user_id
                    AND f.followed = b.user_id AND f.is_kept >= \(raw: isKept ? "1" : "0")
            ) = 0
            """
        try transaction.execute(
            """
            INSERT INTO following (application, follower, followed, is_kept, event)
            SELECT a.application, a.user_id, b.user_id, \(raw: isKept ? "1" : "0"), \(position)
            \(changed)
            ON CONFLICT (application, follower, followed) DO UPDATE SET is_kept = excluded.is_kept
            """, reading: [participants])
    }

    /// Ends the following of pairs that a conversation has connected, unless they follow each other beyond it
    /// (`is_kept`) or another conversation connects them. Call it before the rows of the participants change.
    func disconnect(
        _ leaving: [UserID], among participants: [UserID], of conversation: Conversation
    ) throws {
        guard !leaving.isEmpty else { return }
        guard !conversation.isWide else { return try endStays(leaving, in: conversation.id) }
        guard participants.count > 1 else { return }
        let pairs = pairs(
            of: conversation.id, where: "\(oneOf: leaving, among: participants)")
        let ended = try transaction.rows(
            """
            DELETE FROM following
            WHERE application = \(application) AND is_kept = 0
                AND (follower, followed) IN (SELECT a.user_id, b.user_id \(pairs))
                AND NOT \(isConnected(beyond: conversation.id))
            RETURNING follower, followed
            """
        ) { row in (follower: try row.user(0), followed: try row.user(1)) }
        try countFollowing(of: ended.map(\.follower), by: -1)
        for (follower, followed) in ended { touchUnfollowed(followed, by: follower) }
    }

    /// Whether a conversation that is not wide connects the users of a row of `following`: both take part, and the
    /// follower has seen it. A wide one is looked up in `wide_stays`.
    ///
    /// - Parameter conversation: One that does not count; `nil` for none.
    private func isConnected(beyond conversation: Conversation.ID? = nil) -> SQL {
        // Compared with a count, because EXISTS could be planned as a hash table of all participants. Each state has its
        // own index.
        func count(_ state: StaticString) -> SQL {
            """
            (
                SELECT COUNT(*) FROM participants a
                JOIN participants b ON b.application = a.application
                    AND b.conversation = a.conversation AND b.user_id = following.followed
                WHERE a.application = following.application AND a.user_id = following.follower
                    AND a.state = \(raw: state) AND a.left_after IS NULL AND a.is_wide = 0
                    AND a.conversation <> \(conversation?.bytes ?? []) AND b.left_after IS NULL
            )
            """
        }
        return "(\(count("'shown'")) + \(count("'cleared'")) > 0)"
    }

    /// The `FROM` and `WHERE` clauses that select pairs of current participants: `a`, which follows, and `b`.
    ///
    /// Statements use them as a subquery instead of two lists of users: for lists, the database may choose a plan that
    /// reads all rows of a follower, which are thousands for some users.
    private func pairs(
        of conversation: Conversation.ID, with table: SQL = "", where condition: SQL
    ) -> SQL {
        """
        FROM participants a CROSS JOIN participants b \(table)
        WHERE a.application = \(application) AND a.conversation = \(conversation)
            AND b.application = a.application AND b.conversation = a.conversation
            AND a.left_after IS NULL AND b.left_after IS NULL
            AND a.user_id <> b.user_id AND \(condition)
        """
    }

    /// Stores whether a user stays followed without a shared conversation.
    private func setKept(
        _ user: UserID, followedBy follower: UserID, _ isKept: Bool
    ) throws {
        try transaction.execute(
            """
            UPDATE following SET is_kept = \(isKept)
            WHERE application = \(application) AND follower = \(follower) AND followed = \(user)
            """)
    }

    /// Adds to the number of users that each follower follows; a follower listed twice is counted twice.
    private func countFollowing(of followers: [UserID], by step: Int64) throws {
        let counts = followers.reduce(into: [UserID: Int64]()) { counts, user in
            counts[user, default: 0] += step
        }
        for (count, users) in Dictionary(grouping: counts.keys, by: { user in counts[user] ?? 0 }) {
            try transaction.execute(
                """
                UPDATE identities SET following_count = following_count + \(count)
                WHERE application = \(application)
                    AND user_id \(in: users)
                """)
        }
    }
}

extension SQL.StringInterpolation {
    /// Whether at least one user of a pair is in a subset of all participants.
    fileprivate mutating func appendInterpolation(oneOf subset: [UserID], among all: [UserID]) {
        // If the subset is all participants, the condition excludes no pair. Without it there are fewer statement texts,
        // and that of a creation is shorter.
        guard subset.count < all.count else { return appendLiteral("TRUE") }
        appendLiteral("(a.user_id ")
        appendInterpolation(in: subset)
        appendLiteral(" OR b.user_id ")
        appendInterpolation(in: subset)
        appendLiteral(")")
    }
}
