import SQL

// The states objects had before they changed, for as long as the log is kept: an event shows its objects as they
// were right after it. Until now only what was deleted was kept, as it was last.
extension SchemaMigration {
    static let history = SchemaMigration(
        number: 23, name: "history",
        statements: [
            // `object` is a byte for the kind and the object's name; `until` the event that ended the state.
            """
            CREATE TABLE object_history (
                application BYTEA NOT NULL,
                object BYTEA NOT NULL,
                until BIGINT NOT NULL,
                state BYTEA NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX object_history_by_object
            ON object_history (application, object, until)
            """,
            "CREATE INDEX object_history_by_event ON object_history (application, until)",
            // The event that brought a message; zero for those of before, which no reader asks for.
            "ALTER TABLE messages ADD COLUMN event BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE deleted_messages ADD COLUMN sent BIGINT NOT NULL DEFAULT 0",
            "DROP TABLE last_participants",
            "DROP TABLE last_receipts",
        ])
}
