import SQL

// Which contents somebody needs, what is left to delete of others, and how many bytes an application
// holds. What waited to be sent before this release is protected no better than it was: what it attaches
// is not known to a statement.
extension SchemaMigration {
    static let contents = SchemaMigration(
        number: 11, name: "contents",
        statements: [
            // Parts that show it, and parts of messages that wait.
            "ALTER TABLE contents ADD COLUMN use_count BIGINT NOT NULL DEFAULT 0",
            """
            UPDATE contents SET use_count = (
                SELECT COUNT(*) FROM parts
                WHERE parts.application = contents.application AND parts.content = contents.id
            )
            """,
            // Read whole: what no message has come for yet.
            """
            CREATE INDEX contents_unused ON contents (application, completed_at)
            WHERE use_count = 0
            """,
            """
            CREATE TABLE scheduled_contents (
                application BYTEA NOT NULL,
                message BYTEA NOT NULL,
                content BYTEA NOT NULL
            )
            """,
            """
            CREATE INDEX scheduled_contents_by_message ON scheduled_contents (application, message)
            """,
            // Their bytes are deleted behind the transaction that let them go.
            """
            CREATE TABLE dropped_contents (
                application BYTEA NOT NULL,
                content BYTEA NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX dropped_contents_by_content
            ON dropped_contents (application, content)
            """,
            "ALTER TABLE applications ADD COLUMN content_bytes BIGINT NOT NULL DEFAULT 0",
            """
            UPDATE applications SET content_bytes = (
                SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM contents
                WHERE contents.application = applications.application
            )
            """,
        ])
}
