import SQL

// Who has not seen a conversation is not connected by it (R51): what it has connected so far is taken
// back, and is counted again once he sees it. Whom he follows otherwise nobody can tell; he keeps it.
extension SchemaMigration {
    static let sight = SchemaMigration(
        number: 8, name: "sight",
        statements: [
            """
            UPDATE following SET shared_count = following.shared_count - early.conversations
            FROM (
                SELECT a.application AS application, a.user_id AS follower, b.user_id AS followed,
                    COUNT(*) AS conversations
                FROM participants a
                JOIN participants b
                    ON b.application = a.application AND b.conversation = a.conversation
                WHERE a.state = 'unseen' AND a.left_after IS NULL AND b.left_after IS NULL
                    AND a.user_id <> b.user_id
                GROUP BY a.application, a.user_id, b.user_id
            ) AS early
            WHERE following.application = early.application
                AND following.follower = early.follower AND following.followed = early.followed
            """,
            "DELETE FROM following WHERE shared_count = 0 AND is_kept = 0",
            """
            UPDATE identities SET following_count = (
                SELECT COUNT(*) FROM following f
                WHERE f.application = identities.application
                    AND f.follower = identities.user_id
            )
            WHERE following_count > 0
            """,
        ])
}
