import SQL

extension SchemaMigration {
    static let exports = SchemaMigration(
        number: 7, name: "exports",
        statements: [
            """
            CREATE TABLE export_keys (
                application BYTEA NOT NULL PRIMARY KEY,
                pem TEXT NOT NULL,
                der BYTEA NOT NULL,
                last_historical_at BIGINT
            )
            """,
            """
            CREATE TABLE export_schedules (
                application BYTEA NOT NULL PRIMARY KEY,
                repetition TEXT NOT NULL,
                topics TEXT NOT NULL,
                place BIGINT NOT NULL,
                next_at BIGINT,
                last_at BIGINT,
                last_export BYTEA
            )
            """,
            // Read whole: as many rows as applications that want daily exports.
            """
            CREATE INDEX export_schedules_by_time ON export_schedules (application, next_at)
            WHERE next_at IS NOT NULL
            """,
            """
            CREATE TABLE exports (
                application BYTEA NOT NULL,
                id BYTEA NOT NULL,
                after_position BIGINT,
                through_position BIGINT,
                topics TEXT,
                public_key BYTEA NOT NULL,
                created_at BIGINT NOT NULL,
                started_at BIGINT,
                completed_at BIGINT,
                expired_at BIGINT,
                deleted_at BIGINT,
                task TEXT,
                size BIGINT,
                sha256 BYTEA,
                crc32c BIGINT,
                encrypted_key BYTEA,
                initial_vector BYTEA
            )
            """,
            "CREATE UNIQUE INDEX exports_by_id ON exports (application, id)",
            // Read whole: the few exports somebody has still to work on, and those that will expire.
            "CREATE INDEX exports_by_task ON exports (application, id) WHERE task IS NOT NULL",
            """
            CREATE INDEX exports_by_completion ON exports (application, completed_at)
            WHERE completed_at IS NOT NULL AND task IS NULL AND expired_at IS NULL
            """,
            // A signed download URL names the archive alone; its signature is the permission.
            "CREATE INDEX exports_by_name ON exports (id)",
        ])
}
