import SQL

// Every key starts with the application: it is the tenant, and later the shard. Rowid tables with
// narrow unique indexes take 2–3 times the inserts of clustered ones (swift-facts 4).
extension SchemaMigration {
    static let messaging = SchemaMigration(
        number: 1, name: "messaging",
        statements: [
            """
            CREATE TABLE log_positions (
                application BYTEA NOT NULL PRIMARY KEY,
                position BIGINT NOT NULL
            )
            """,
            """
            CREATE TABLE events (
                application BYTEA NOT NULL,
                position BIGINT NOT NULL,
                kind TEXT NOT NULL,
                at BIGINT NOT NULL,
                payload BYTEA NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX events_by_position ON events (application, position)",
            """
            CREATE TABLE applications (
                application BYTEA NOT NULL PRIMARY KEY,
                name TEXT NOT NULL,
                created_at BIGINT NOT NULL,
                is_suspended BIGINT NOT NULL
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
            // The one look-up that finds the application instead of starting from it.
            "CREATE UNIQUE INDEX tokens_by_digest ON tokens (digest)",
            """
            CREATE TABLE identities (
                application BYTEA NOT NULL,
                user_id TEXT NOT NULL,
                display_name TEXT,
                avatar_url TEXT,
                kind TEXT NOT NULL,
                conversation_count BIGINT NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX identities_by_user ON identities (application, user_id)",
            """
            CREATE TABLE conversations (
                application BYTEA NOT NULL,
                id BYTEA NOT NULL,
                created_at BIGINT NOT NULL,
                is_distinct BIGINT NOT NULL,
                distinct_key BYTEA,
                is_announced BIGINT NOT NULL,
                deleted_at BIGINT,
                last_position BIGINT NOT NULL,
                last_sent_at BIGINT,
                message_count BIGINT NOT NULL,
                metadata BYTEA NOT NULL,
                version BIGINT NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX conversations_by_id ON conversations (application, id)",
            // One live distinct conversation a participant set (R3, R8): all others have NULL here.
            """
            CREATE UNIQUE INDEX conversations_by_distinct_key
            ON conversations (application, distinct_key)
            """,
            """
            CREATE TABLE conversation_aliases (
                application BYTEA NOT NULL,
                alias BYTEA NOT NULL,
                conversation BYTEA NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX conversation_aliases_by_alias
            ON conversation_aliases (application, alias)
            """,
            """
            CREATE TABLE participants (
                application BYTEA NOT NULL,
                conversation BYTEA NOT NULL,
                user_id TEXT NOT NULL,
                place BIGINT NOT NULL,
                past TEXT NOT NULL,
                joined_after BIGINT NOT NULL,
                left_after BIGINT,
                messages_before BIGINT NOT NULL,
                messages_until BIGINT,
                sent_count BIGINT NOT NULL,
                read_count BIGINT NOT NULL,
                frozen_metadata BYTEA,
                conversation_created_at BIGINT NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX participants_by_conversation
            ON participants (application, conversation, user_id)
            """,
            """
            CREATE INDEX participants_by_user
            ON participants (application, user_id, conversation_created_at, conversation)
            """,
            """
            CREATE TABLE messages (
                application BYTEA NOT NULL,
                id BYTEA NOT NULL,
                conversation BYTEA NOT NULL,
                position BIGINT NOT NULL,
                sender_user TEXT,
                sender_name TEXT,
                sent_at BIGINT NOT NULL,
                updated_at BIGINT,
                version BIGINT NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX messages_by_id ON messages (application, id)",
            """
            CREATE UNIQUE INDEX messages_by_position
            ON messages (application, conversation, position)
            """,
            """
            CREATE TABLE parts (
                application BYTEA NOT NULL,
                message BYTEA NOT NULL,
                part_index BIGINT NOT NULL,
                id BYTEA NOT NULL,
                mime_type TEXT NOT NULL,
                body BYTEA,
                content BYTEA,
                size BIGINT NOT NULL,
                updated_at BIGINT
            )
            """,
            "CREATE UNIQUE INDEX parts_by_message ON parts (application, message, part_index)",
            """
            CREATE INDEX parts_by_content ON parts (application, content)
            WHERE content IS NOT NULL
            """,
            """
            CREATE TABLE receipts (
                application BYTEA NOT NULL,
                conversation BYTEA NOT NULL,
                user_id TEXT NOT NULL,
                delivered TEXT NOT NULL,
                read TEXT NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX receipts_by_conversation
            ON receipts (application, conversation, user_id)
            """,
            """
            CREATE TABLE contents (
                application BYTEA NOT NULL,
                id BYTEA NOT NULL,
                conversation BYTEA,
                mime_type TEXT NOT NULL,
                size BIGINT NOT NULL,
                file_name TEXT,
                sha256 BYTEA NOT NULL,
                crc32c BIGINT NOT NULL,
                md5 BYTEA,
                completed_at BIGINT NOT NULL,
                origin TEXT
            )
            """,
            "CREATE UNIQUE INDEX contents_by_id ON contents (application, id)",
            "CREATE INDEX contents_by_conversation ON contents (application, conversation)",
            // A signed download URL names the content alone; its signature is the permission.
            "CREATE INDEX contents_by_name ON contents (id)",
            """
            CREATE TABLE replay_keys (
                application BYTEA NOT NULL,
                kind TEXT NOT NULL,
                replay_key BYTEA NOT NULL,
                object BYTEA NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX replay_keys_by_key
            ON replay_keys (application, kind, replay_key)
            """,
        ])
}
