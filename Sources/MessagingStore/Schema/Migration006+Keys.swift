import SQL

// Answers of requests that had a key (X2). No projection of the log writes here: what was answered is no
// fact about messages, and it is gone after a day.
extension SchemaMigration {
    static let keys = SchemaMigration(
        number: 6, name: "keys",
        statements: [
            """
            CREATE TABLE idempotency_keys (
                application BYTEA NOT NULL,
                idempotency_key TEXT NOT NULL,
                digest BYTEA NOT NULL,
                status BIGINT NOT NULL,
                fields BYTEA NOT NULL,
                body BYTEA,
                kept_at BIGINT NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX idempotency_keys_by_key
            ON idempotency_keys (application, idempotency_key)
            """,
            "CREATE INDEX idempotency_keys_by_age ON idempotency_keys (application, kept_at)",
        ])
}
