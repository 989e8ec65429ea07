import SQL

// What several processes share of uploads, and the secrets that all of them know. Nothing of it is
// messaging's: no event makes these rows, and no replay. A capability names its upload, and no
// application is known before.
extension SchemaMigration {
    static let uploads = SchemaMigration(
        number: 17, name: "uploads",
        statements: [
            """
            CREATE TABLE uploads (
                name TEXT NOT NULL PRIMARY KEY,
                version BIGINT NOT NULL,
                holder BYTEA NOT NULL,
                content TEXT NOT NULL,
                application TEXT NOT NULL,
                owner TEXT NOT NULL,
                is_open BIGINT NOT NULL,
                claimed BIGINT NOT NULL,
                due_at BIGINT NOT NULL,
                record BYTEA NOT NULL
            )
            """,
            "CREATE INDEX uploads_by_content ON uploads (content)",
            "CREATE INDEX uploads_by_owner ON uploads (application, owner, is_open, claimed)",
            "CREATE INDEX uploads_by_due ON uploads (due_at, name)",
            """
            CREATE TABLE secrets (
                name TEXT NOT NULL PRIMARY KEY,
                value BYTEA NOT NULL
            )
            """,
        ])
}
