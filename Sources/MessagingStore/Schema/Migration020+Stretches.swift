import SQL

// Of which stretches of the log webhooks that are not active any more have still to be told: those they were
// active for and nobody had read yet. A row goes when that is done.
extension SchemaMigration {
    static let stretches = SchemaMigration(
        number: 20, name: "stretches",
        statements: [
            """
            CREATE TABLE webhook_stretches (
                application BYTEA NOT NULL,
                webhook BYTEA NOT NULL,
                after_position BIGINT NOT NULL,
                through_position BIGINT NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX webhook_stretches_by_place
            ON webhook_stretches (application, webhook, through_position)
            """,
        ])
}
