import SQL

// What was deleted, as it was last: the log tells of it for as long as it is kept, and of the time before its
// deletion perhaps long after. `event` is the place in the log of the deletion.
extension SchemaMigration {
    static let last = SchemaMigration(
        number: 21, name: "last",
        statements: [
            """
            CREATE TABLE deleted_messages (
                application BYTEA NOT NULL,
                id BYTEA NOT NULL,
                conversation BYTEA NOT NULL,
                position BIGINT NOT NULL,
                sender_user TEXT,
                event BIGINT NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX deleted_messages_by_id ON deleted_messages (application, id)",
            """
            CREATE INDEX deleted_messages_by_position
            ON deleted_messages (application, conversation, position)
            """,
            "CREATE INDEX deleted_messages_by_event ON deleted_messages (application, event)",
            """
            CREATE TABLE last_participants (
                application BYTEA NOT NULL,
                conversation BYTEA NOT NULL,
                user_id TEXT NOT NULL,
                place BIGINT NOT NULL,
                past TEXT NOT NULL,
                joined_after BIGINT NOT NULL,
                left_after BIGINT,
                state TEXT NOT NULL,
                cleared_to BIGINT NOT NULL,
                event BIGINT NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX last_participants_by_conversation
            ON last_participants (application, conversation, user_id)
            """,
            "CREATE INDEX last_participants_by_event ON last_participants (application, event)",
            """
            CREATE TABLE last_receipts (
                application BYTEA NOT NULL,
                conversation BYTEA NOT NULL,
                user_id TEXT NOT NULL,
                delivered TEXT NOT NULL,
                read TEXT NOT NULL,
                event BIGINT NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX last_receipts_by_conversation
            ON last_receipts (application, conversation, user_id)
            """,
            "CREATE INDEX last_receipts_by_event ON last_receipts (application, event)",
        ])
}
