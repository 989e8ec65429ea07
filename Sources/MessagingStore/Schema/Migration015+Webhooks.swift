import SQL

// Who is told of what happens. As with tokens and leases nothing of it is said between users, so no
// event makes these rows, and no replay.
extension SchemaMigration {
    static let webhooks = SchemaMigration(
        number: 15, name: "webhooks",
        statements: [
            """
            CREATE TABLE webhooks (
                application BYTEA NOT NULL,
                id BYTEA NOT NULL,
                payload_version TEXT NOT NULL,
                target TEXT NOT NULL,
                topics TEXT NOT NULL,
                secret TEXT NOT NULL,
                config BYTEA,
                status TEXT NOT NULL,
                since BIGINT,
                reason TEXT,
                created_at BIGINT NOT NULL,
                version BIGINT NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX webhooks_by_id ON webhooks (application, id)",
            // Read whole: the few whose targets have still to be asked, and those that are sent to.
            """
            CREATE INDEX webhooks_unverified ON webhooks (application, id)
            WHERE status = 'unverified'
            """,
            """
            CREATE INDEX webhooks_active ON webhooks (application, id) WHERE status = 'active'
            """,
        ])
}
