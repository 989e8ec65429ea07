import SQL

// Operators list the conversations and the users of an application, newest first: from an index, and with
// their number in the application's row, so that neither depends on how many there are.
extension SchemaMigration {
    static let lists = SchemaMigration(
        number: 22, name: "lists",
        statements: [
            """
            CREATE INDEX conversations_by_creation ON conversations (application, created_at, id)
            WHERE deleted_at IS NULL
            """,
            // When a user was first named. Of those who are there it is not known: when the oldest
            // conversation that they see was created, else when the application was.
            "ALTER TABLE identities ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0",
            """
            UPDATE identities SET created_at = COALESCE((
                SELECT MIN(p.conversation_created_at) FROM participants p
                WHERE p.application = identities.application AND p.user_id = identities.user_id
                    AND p.state = 'shown'
            ), (
                SELECT a.created_at FROM applications a
                WHERE a.application = identities.application
            ), 0)
            """,
            "CREATE INDEX identities_by_creation ON identities (application, created_at, user_id)",
            "ALTER TABLE applications ADD COLUMN conversation_count BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE applications ADD COLUMN user_count BIGINT NOT NULL DEFAULT 0",
            """
            UPDATE applications SET
                conversation_count = (
                    SELECT COUNT(*) FROM conversations c
                    WHERE c.application = applications.application AND c.deleted_at IS NULL
                ),
                user_count = (
                    SELECT COUNT(*) FROM identities i
                    WHERE i.application = applications.application
                )
            """,
        ])
}
