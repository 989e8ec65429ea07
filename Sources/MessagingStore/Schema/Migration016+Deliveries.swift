import SQL

// What webhooks are sent: how far the log has been read for them, and what is on its way.
extension SchemaMigration {
    static let deliveries = SchemaMigration(
        number: 16, name: "deliveries",
        statements: [
            // `within` is a place among the receipts of the event behind `after`.
            """
            CREATE TABLE webhook_readers (
                application BYTEA NOT NULL PRIMARY KEY,
                after_position BIGINT NOT NULL,
                within_position BIGINT NOT NULL
            )
            """,
            // Deliveries of one lane are sent in order: it is the conversation, or the delivery itself
            // where there is none. Only the first pending one of a lane has a `next_at`.
            """
            CREATE TABLE deliveries (
                application BYTEA NOT NULL,
                webhook BYTEA NOT NULL,
                number BIGINT NOT NULL,
                id BYTEA NOT NULL,
                lane BYTEA NOT NULL,
                event BYTEA NOT NULL,
                type TEXT NOT NULL,
                position BIGINT,
                body BYTEA NOT NULL,
                state TEXT NOT NULL,
                attempts BIGINT NOT NULL,
                created_at BIGINT NOT NULL,
                asked_at BIGINT NOT NULL,
                next_at BIGINT,
                finished_at BIGINT,
                status BIGINT,
                failure TEXT
            )
            """,
            "CREATE UNIQUE INDEX deliveries_by_id ON deliveries (application, id)",
            """
            CREATE UNIQUE INDEX deliveries_by_number ON deliveries (application, webhook, number)
            """,
            """
            CREATE INDEX deliveries_by_state ON deliveries (application, webhook, state, number)
            """,
            """
            CREATE UNIQUE INDEX deliveries_by_head ON deliveries (application, webhook, lane)
            WHERE next_at IS NOT NULL
            """,
            """
            CREATE INDEX deliveries_by_lane ON deliveries (application, webhook, lane, number)
            WHERE state = 'pending'
            """,
            """
            CREATE INDEX deliveries_by_time ON deliveries (application, webhook, next_at, number)
            WHERE next_at IS NOT NULL
            """,
            // Stretches of the log that somebody wants sent again; a row goes when it is done.
            """
            CREATE TABLE webhook_replays (
                application BYTEA NOT NULL,
                id BYTEA NOT NULL,
                webhook BYTEA NOT NULL,
                after_position BIGINT NOT NULL,
                within_position BIGINT NOT NULL,
                through_position BIGINT NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX webhook_replays_by_id ON webhook_replays (application, id)",
            // The secret before the present one signs beside it for a while.
            """
            CREATE TABLE former_secrets (
                application BYTEA NOT NULL,
                webhook BYTEA NOT NULL,
                secret TEXT NOT NULL,
                until BIGINT NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX former_secrets_by_webhook ON former_secrets (application, webhook)",
            // Webhooks that are no more and whose deliveries have still to go, a stretch at a time.
            """
            CREATE TABLE dropped_webhooks (
                application BYTEA NOT NULL,
                webhook BYTEA NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX dropped_webhooks_by_id ON dropped_webhooks (application, webhook)",
        ])
}
