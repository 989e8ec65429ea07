import SQL

/// The schema of the database, as the migrations that create it.
///
/// Migrations count from 1 with the first tagged release. A released migration is never edited: a change is a new one.
/// The text is the same for both engines; `SQL` translates the column types.
///
/// Ids are 16 bytes, except those of users. Times (`…_at`) are milliseconds since 1970 UTC, positions are numbers from
/// 1, and flags (`is_…`) are 0 or 1.
///
/// Almost every index starts with the application, so that a later release can distribute applications over several
/// databases. Tables have a rowid and narrow unique indexes instead of a clustered primary key, because SQLite then
/// inserts two to three times as many rows in the same time. In tables with a row for each message, numbers come first:
/// PostgreSQL aligns each to eight bytes, and pads what precedes it.
enum DatabaseSchema {
    static let migrations = [
        SchemaMigration(
            number: 1, name: "eighth schema of 29 November 2026",
            statements: logTables + messageTables + operationTables + operatorTables)
    ]

    // The event log, what is stored for its readers, applications and their tokens.
    private static let logTables: [SQL] = [
        // The end of each event log. A row and not a sequence: see `nextLogPosition` in MutationContext.swift.
        // `position`: the position of the last event.
        // `trimmed`: events up to this position have been deleted.
        // `blocks_changed_at`: the time of the last change to a block list of the application.
        // `message_count`: the number of messages in conversations that are not deleted.
        // `touched_trimmed`: feeds are complete only after this position: earlier rows of `touched` have been deleted.
        // `erasing`: the number of users that are being erased.
        """
        CREATE TABLE log_positions (
            application BYTEA NOT NULL PRIMARY KEY,
            position BIGINT NOT NULL,
            trimmed BIGINT NOT NULL DEFAULT 0,
            blocks_changed_at BIGINT NOT NULL DEFAULT 0,
            message_count BIGINT NOT NULL DEFAULT 0,
            touched_trimmed BIGINT NOT NULL DEFAULT 0,
            erasing BIGINT NOT NULL DEFAULT 0
        )
        """,
        // The event log. Every change of messaging state is one row.
        // `kind`: the raw value of `EventType`.
        // `payload`: the encoded event (`StoredEvent`).
        // `actor_user`, `actor_token`, `actor_name`: the user, token or operator that caused the event; all NULL for what
        // the server does by itself.
        // `trace`: the distributed trace of the request, as `id-flags`.
        """
        CREATE TABLE events (
            position BIGINT NOT NULL,
            at BIGINT NOT NULL,
            application BYTEA NOT NULL,
            kind TEXT NOT NULL,
            payload BYTEA NOT NULL,
            actor_user TEXT,
            actor_token BYTEA,
            trace TEXT,
            actor_name TEXT
        )
        """,
        "CREATE UNIQUE INDEX events_by_position ON events (application, position)",
        // Readers of earlier events look up all later merges, of which there are few.
        """
        CREATE INDEX events_merged
        ON events (application, position)
        WHERE kind = 'conversation.merged'
        """,
        // The states that objects had before they changed, stored as long as the events (`HistoricalObject`).
        // `object`: a byte for the kind of object, followed by its id.
        // `until`: the position of the event that ended the state.
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
        // The latest change of each object that users see, for their feeds (Y1): one row for each object and stream.
        // Conversations and messages that exist have it in their own rows (`changed`).
        // `stream`: the id of a conversation, or the UTF-8 bytes of a user id.
        // `kind`: the raw value of `TouchedKind`.
        // `id`: an id, or the UTF-8 bytes of a user id.
        // `position`: the position of the event.
        // `gone_at`: when the object ceased to exist; 0 while it exists.
        // `place`: the position of a deleted message in its conversation; 0 for other objects.
        """
        CREATE TABLE touched (
            position BIGINT NOT NULL,
            kind BIGINT NOT NULL,
            gone_at BIGINT NOT NULL,
            place BIGINT NOT NULL,
            application BYTEA NOT NULL,
            stream BYTEA NOT NULL,
            id BYTEA NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX touched_by_object ON touched (application, stream, kind, id)",
        "CREATE INDEX touched_by_position ON touched (application, stream, position)",
        "CREATE INDEX touched_gone ON touched (application, gone_at) WHERE gone_at > 0",
        // Deleted messages with their last positions, for readers of the log.
        // `event`: the position of the event that deleted the message.
        // `sent`: the position of the event that recorded the message.
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
        // `content_bytes`, `conversation_count`, `user_count`: stored, so that quotas and lists need not sum or count
        // rows. Deleted conversations are not counted.
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
        // `digest`: the SHA-256 of the secret, which is not stored.
        // `name`: a name for operators; NULL for none.
        """
        CREATE TABLE tokens (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            scope TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT,
            revoked_at BIGINT,
            digest BYTEA NOT NULL,
            name TEXT
        )
        """,
        "CREATE UNIQUE INDEX tokens_by_id ON tokens (application, id)",
        // Requests look up the application by the digest of their token, so this key does not start with it.
        "CREATE UNIQUE INDEX tokens_by_digest ON tokens (digest)",
        // The services that issue identity tokens (X14).
        """
        CREATE TABLE providers (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            name TEXT NOT NULL,
            created_at BIGINT NOT NULL
        )
        """,
        // Identity tokens of another application are distinguished from those of an unknown provider or key
        // (ruling 46), so these keys do not start with the application.
        "CREATE UNIQUE INDEX providers_by_id ON providers (id)",
        "CREATE INDEX providers_by_creation ON providers (application, created_at, id)",
        // `algorithm`: the raw value of `ProviderKey.Algorithm`.
        // `der`: the public key.
        // `deleted_at`: NULL while the key exists; deleted keys stay, so that their identity tokens are
        // distinguished from those of unknown keys.
        """
        CREATE TABLE provider_keys (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            provider BYTEA NOT NULL,
            algorithm TEXT NOT NULL,
            der BYTEA NOT NULL,
            created_at BIGINT NOT NULL,
            is_disabled BIGINT NOT NULL,
            deleted_at BIGINT
        )
        """,
        "CREATE UNIQUE INDEX provider_keys_by_id ON provider_keys (id)",
        """
        CREATE INDEX provider_keys_by_provider
        ON provider_keys (application, provider, created_at, id)
        """,
        // The sessions of users that have not ended. Expired ones are deleted when their user begins another.
        // `last_used_at`: the start of an hour; no event writes it after the creation.
        // `digest`: the SHA-256 of the token, which is not stored.
        """
        CREATE TABLE sessions (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            user_id TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            last_used_at BIGINT NOT NULL,
            user_agent TEXT,
            digest BYTEA NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX sessions_by_id ON sessions (application, id)",
        "CREATE INDEX sessions_by_user ON sessions (application, user_id, created_at, id)",
        // Requests look up the user by the digest of their token, so this key does not start with the application.
        "CREATE UNIQUE INDEX sessions_by_digest ON sessions (digest)",
        // The push tokens of devices (client-api §4.7). No event writes them, because the log must not contain tokens.
        // `device`: the id that the device chose.
        // `session`: the session that registered it.
        """
        CREATE TABLE devices (
            application BYTEA NOT NULL,
            user_id TEXT NOT NULL,
            device TEXT NOT NULL,
            kind TEXT NOT NULL,
            token TEXT NOT NULL,
            bundle_id TEXT,
            sender_id TEXT,
            system_version TEXT,
            session BYTEA NOT NULL,
            registered_at BIGINT NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX devices_by_user ON devices (application, user_id, device)",
        "CREATE UNIQUE INDEX devices_by_token ON devices (application, token)",
        "CREATE INDEX devices_by_session ON devices (application, session)",
        // Nonces that began a session in this application, until they would have expired (`Nonces`). A nonce works once
        // in all applications. No event writes them.
        """
        CREATE TABLE used_nonces (
            application BYTEA NOT NULL,
            nonce BYTEA NOT NULL,
            expires_at BIGINT NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX used_nonces_by_nonce ON used_nonces (nonce)",
        "CREATE INDEX used_nonces_by_expiry ON used_nonces (application, expires_at)",
    ]
}
