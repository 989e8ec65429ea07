import SQL

/// The schema of the database, as the migrations that create it.
///
/// Migrations count from 1 with the first tagged release. A released migration is never edited: a change is a new one.
/// One text serves both engines; `SQL` translates the column types.
///
/// Every key starts with the application: it is the tenant, and later the shard. Tables with a rowid and narrow unique
/// indexes take two to three times the inserts of clustered ones.
enum DatabaseSchema {
    static let migrations = [
        SchemaMigration(
            number: 1, name: "base schema",
            statements: logTables + messageTables + operationTables)
    ]

    // The event log, what is stored for its readers, applications and their tokens.
    private static let logTables: [SQL] = [
        // The end of each event log. A counter row and not a sequence: see `MutationContext`.
        // `trimmed`: events up to this position have been deleted.
        // `blocks_changed_at`: the moment of the last change to a block list of the application.
        """
        CREATE TABLE log_positions (
            application BYTEA NOT NULL PRIMARY KEY,
            position BIGINT NOT NULL,
            trimmed BIGINT NOT NULL DEFAULT 0,
            blocks_changed_at BIGINT NOT NULL DEFAULT 0
        )
        """,
        // The event log. Every change of messaging state is one row.
        // `actor_user`: NULL, like `actor_token`, for what the server does by itself.
        // `trace`: the distributed trace of the request, as `id-flags`.
        """
        CREATE TABLE events (
            application BYTEA NOT NULL,
            position BIGINT NOT NULL,
            kind TEXT NOT NULL,
            at BIGINT NOT NULL,
            payload BYTEA NOT NULL,
            actor_user TEXT,
            actor_token BYTEA,
            trace TEXT
        )
        """,
        "CREATE UNIQUE INDEX events_by_position ON events (application, position)",
        // Few rows; readers of older events look up the merges since.
        """
        CREATE INDEX events_merged
        ON events (application, position)
        WHERE kind = 'conversation.merged'
        """,
        // The states that objects had before they changed, for as long as the log is kept. `object` is a byte
        // for the kind followed by the object's id; `until` is the event that ended the state.
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
        // The last positions of deleted messages, for readers of the log. `event` is the event of the
        // deletion, `sent` that of the message.
        """
        CREATE TABLE deleted_messages (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            conversation BYTEA NOT NULL,
            position BIGINT NOT NULL,
            sender_user TEXT,
            event BIGINT NOT NULL,
            sent BIGINT NOT NULL DEFAULT 0
        )
        """,
        "CREATE UNIQUE INDEX deleted_messages_by_id ON deleted_messages (application, id)",
        """
        CREATE INDEX deleted_messages_by_position
        ON deleted_messages (application, conversation, position)
        """,
        "CREATE INDEX deleted_messages_by_event ON deleted_messages (application, event)",
        // `session_lifetime`: in seconds; NULL until it is set.
        // `content_bytes`: the sums below are kept so that quotas and lists need not count rows.
        """
        CREATE TABLE applications (
            application BYTEA NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            is_suspended BIGINT NOT NULL,
            session_lifetime BIGINT,
            content_bytes BIGINT NOT NULL DEFAULT 0,
            conversation_count BIGINT NOT NULL DEFAULT 0,
            user_count BIGINT NOT NULL DEFAULT 0
        )
        """,
        """
        CREATE TABLE tokens (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            scope TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT,
            revoked_at BIGINT,
            digest BYTEA NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX tokens_by_id ON tokens (application, id)",
        // Requests look up the application by the digest of their token, so this key does not start with it.
        "CREATE UNIQUE INDEX tokens_by_digest ON tokens (digest)",
    ]
}
