import SQL

extension SchemaMigration {
    static let users = SchemaMigration(
        number: 3, name: "users",
        statements: [
            // A directed block (R30); a row with owner = blocked has no effect on anybody.
            """
            CREATE TABLE blocks (
                application BYTEA NOT NULL,
                owner TEXT NOT NULL,
                blocked TEXT NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX blocks_by_owner ON blocks (application, owner, blocked)",
            "CREATE INDEX blocks_by_blocked ON blocks (application, blocked, owner)",
            // 0 unknown, 1 named, 2 told. What is long stands last: it is read seldom.
            "ALTER TABLE identities ADD COLUMN standing BIGINT NOT NULL DEFAULT 1",
            "ALTER TABLE identities ADD COLUMN identity_version BIGINT NOT NULL DEFAULT 1",
            "ALTER TABLE identities ADD COLUMN is_suspended BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE identities ADD COLUMN sessions_ended_at BIGINT",
            "ALTER TABLE identities ADD COLUMN external_unread_count BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE identities ADD COLUMN following_count BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE identities ADD COLUMN first_name TEXT",
            "ALTER TABLE identities ADD COLUMN last_name TEXT",
            "ALTER TABLE identities ADD COLUMN phone_number TEXT",
            "ALTER TABLE identities ADD COLUMN email_address TEXT",
            "ALTER TABLE identities ADD COLUMN metadata BYTEA",
            "ALTER TABLE identities ADD COLUMN public_key TEXT",
            """
            UPDATE identities SET standing = 2
            WHERE display_name IS NOT NULL OR avatar_url IS NOT NULL OR kind <> 'user'
            """,
            // In seconds; NULL while nobody has set it.
            "ALTER TABLE applications ADD COLUMN session_lifetime BIGINT",
            // One row for each user followed: by will or since they met (is_kept), or while
            // conversations connect the two (shared_count).
            """
            CREATE TABLE following (
                application BYTEA NOT NULL,
                follower TEXT NOT NULL,
                followed TEXT NOT NULL,
                is_kept BIGINT NOT NULL,
                shared_count BIGINT NOT NULL
            )
            """,
            """
            INSERT INTO following (application, follower, followed, is_kept, shared_count)
            SELECT a.application, a.user_id, b.user_id, 1,
                SUM(CASE WHEN a.left_after IS NULL AND b.left_after IS NULL THEN 1 ELSE 0 END)
            FROM participants a
            JOIN participants b
                ON b.application = a.application AND b.conversation = a.conversation
            WHERE a.user_id <> b.user_id
            GROUP BY a.application, a.user_id, b.user_id
            """,
            """
            CREATE UNIQUE INDEX following_by_follower
            ON following (application, follower, followed)
            """,
            "CREATE INDEX following_by_followed ON following (application, followed, follower)",
            """
            UPDATE identities SET following_count = (
                SELECT COUNT(*) FROM following f
                WHERE f.application = identities.application
                    AND f.follower = identities.user_id
            )
            """,
        ])
}
