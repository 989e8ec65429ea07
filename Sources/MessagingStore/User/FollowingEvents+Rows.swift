import Messaging
import SQL

extension Projection {
    /// Applies what a user wants; a conversation he shares still connects (rulings 19).
    func apply(_ change: FollowingChanged) throws {
        for user in change.added {
            try nameAsFollowed(user)
            let isNew =
                try transaction.rowsChanged(
                    by:
                        """
                        INSERT INTO following (application, follower, followed, is_kept, shared_count)
                        VALUES (\(application), \(change.follower), \(user), 1, 0)
                        ON CONFLICT (application, follower, followed) DO NOTHING
                        """) > 0
            if isNew {
                try countFollowing(of: [change.follower], by: 1)
            } else {
                try keep(user, followedBy: change.follower, true)
            }
        }
        for user in change.removed {
            try keep(user, followedBy: change.follower, false)
            let isGone =
                try transaction.rowsChanged(
                    by:
                        """
                        DELETE FROM following WHERE application = \(application)
                            AND follower = \(change.follower) AND followed = \(user)
                            AND shared_count = 0
                        """) > 0
            if isGone { try countFollowing(of: [change.follower], by: -1) }
        }
    }

    /// Connects those who joined a conversation with everybody in it (platform-api §5.8).
    ///
    /// Who has not seen the conversation follows nobody by it: his list would tell him who has made it
    /// (R51, R33). He does once he sees it, see ``connect(seeing:of:)``. A constant number of
    /// statements, whatever the number of participants.
    ///
    /// - Parameter isMeeting: Whether they meet now, and follow from then on; otherwise they only share.
    func connect(
        _ joined: [UserID], among participants: [UserID], of conversation: Conversation.ID,
        isMeeting: Bool = true
    ) throws {
        guard !joined.isEmpty, participants.count > 1 else { return }
        try connect(
            pairs(
                of: conversation,
                where: "a.state <> 'unseen' AND \(oneOf: joined, among: participants)"),
            isMeeting: isMeeting)
    }

    /// Who takes part in a conversation and has not seen it yet.
    func unaware(of conversation: Conversation.ID) throws -> [UserID] {
        try transaction.rows(
            """
            SELECT user_id FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
                AND left_after IS NULL AND state = 'unseen'
            """
        ) { row in try row.user(0) }
    }

    /// Makes those who see a conversation for the first time follow everybody in it.
    ///
    /// - Parameter users: Current participants, whom ``connect(_:among:of:)`` has left out.
    func connect(seeing users: [UserID], of conversation: Conversation.ID) throws {
        guard !users.isEmpty else { return }
        try connect(pairs(of: conversation, where: "a.user_id IN (\(few: users.map(\.text)))"))
    }

    /// Makes pairs follow, or counts once more that they share a conversation.
    private func connect(_ pairs: SQL, isMeeting: Bool = true) throws {
        let followers = try transaction.rows(
            """
            INSERT INTO following (application, follower, followed, is_kept, shared_count)
            SELECT a.application, a.user_id, b.user_id, \(raw: isMeeting ? "1" : "0"), 0 \(pairs)
            ON CONFLICT (application, follower, followed) DO NOTHING
            RETURNING follower
            """
        ) { row in try row.user(0) }
        try transaction.execute(
            """
            UPDATE following SET
                shared_count = shared_count + 1, is_kept = \(raw: isMeeting ? "1" : "is_kept")
            WHERE application = \(application)
                AND (follower, followed) IN (SELECT a.user_id, b.user_id \(pairs))
            """)
        try countFollowing(of: followers, by: 1)
    }

    /// Takes back what a conversation connects, for those who leave it; they still stand in its rows.
    ///
    /// Who has met goes on following, unless he has said since that he does not want to.
    func disconnect(
        _ leaving: [UserID], among participants: [UserID], of conversation: Conversation.ID
    ) throws {
        guard !leaving.isEmpty, participants.count > 1 else { return }
        let some: SQL = "\(oneOf: leaving, among: participants)"
        let seeing = pairs(of: conversation, where: "a.state <> 'unseen' AND \(some)")
        try transaction.execute(
            """
            UPDATE following SET shared_count = shared_count - 1
            WHERE application = \(application)
                AND (follower, followed) IN (SELECT a.user_id, b.user_id \(seeing))
            """)
        let all = pairs(of: conversation, where: some)
        let followers = try transaction.rows(
            """
            DELETE FROM following
            WHERE application = \(application) AND shared_count = 0 AND is_kept = 0
                AND (follower, followed) IN (SELECT a.user_id, b.user_id \(all))
            RETURNING follower
            """
        ) { row in try row.user(0) }
        try countFollowing(of: followers, by: -1)
    }

    /// Pairs of current participants `a`, who follows, and `b`.
    ///
    /// They are joined with `following` and never named to it as two lists, because whoever has met
    /// thousands would have all of them read where a server has planned for people who meet a few.
    private func pairs(of conversation: Conversation.ID, where condition: SQL) -> SQL {
        """
        FROM participants a
        JOIN participants b ON b.application = a.application AND b.conversation = a.conversation
        WHERE a.application = \(application) AND a.conversation = \(conversation)
            AND a.left_after IS NULL AND b.left_after IS NULL
            AND a.user_id <> b.user_id AND \(condition)
        """
    }

    private func keep(
        _ user: UserID, followedBy follower: UserID, _ isKept: Bool
    ) throws {
        try transaction.execute(
            """
            UPDATE following SET is_kept = \(isKept)
            WHERE application = \(application) AND follower = \(follower) AND followed = \(user)
            """)
    }

    /// Adds to the counts of those who follow somebody more or less; twice named counts twice.
    private func countFollowing(of followers: [UserID], by step: Int64) throws {
        let counts = followers.reduce(into: [UserID: Int64]()) { counts, user in
            counts[user, default: 0] += step
        }
        for (count, users) in Dictionary(grouping: counts.keys, by: { user in counts[user] ?? 0 }) {
            try transaction.execute(
                """
                UPDATE identities SET following_count = following_count + \(count)
                WHERE application = \(application)
                    AND user_id IN (\(few: users.map(\.text)))
                """)
        }
    }
}

extension SQL.StringInterpolation {
    /// Whether one of a pair at least is among some of all participants.
    fileprivate mutating func appendInterpolation(oneOf some: [UserID], among all: [UserID]) {
        // Said only where it leaves pairs out: fewer texts, and a shorter one at each creation.
        guard some.count < all.count else { return appendLiteral("TRUE") }
        appendLiteral("(a.user_id IN (")
        appendInterpolation(few: some.map(\.text))
        appendLiteral(") OR b.user_id IN (")
        appendInterpolation(few: some.map(\.text))
        appendLiteral("))")
    }
}
