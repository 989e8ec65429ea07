import SQL

// Since when a block is in force, and from when to when one was: a user added later does not see what was sent
// during it. Blocks that are there already begin before the next message.
extension SchemaMigration {
    static let blockPeriods = SchemaMigration(
        number: 24, name: "block periods",
        statements: [
            "ALTER TABLE log_positions ADD COLUMN blocks_changed_at BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE messages ADD COLUMN blocks_changed_at BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE blocks ADD COLUMN since BIGINT NOT NULL DEFAULT 1",
            """
            UPDATE log_positions SET blocks_changed_at = 1
            WHERE application IN (SELECT application FROM blocks)
            """,
            """
            CREATE TABLE past_blocks (
                application BYTEA NOT NULL,
                owner TEXT NOT NULL,
                blocked TEXT NOT NULL,
                since BIGINT NOT NULL,
                until BIGINT NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX past_blocks_by_owner
            ON past_blocks (application, owner, blocked, since)
            """,
            "CREATE INDEX past_blocks_by_blocked ON past_blocks (application, blocked, owner)",
        ])
}
