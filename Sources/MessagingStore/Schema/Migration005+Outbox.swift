import SQL

// What leaves a conversation's usual way: announcements to many, notifications without a message,
// and messages that are sent later.
extension SchemaMigration {
    static let outbox = SchemaMigration(
        number: 5, name: "outbox",
        statements: [
            """
            CREATE TABLE announcements (
                application BYTEA NOT NULL,
                id BYTEA NOT NULL,
                sender_user TEXT,
                sender_name TEXT,
                sent_at BIGINT NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX announcements_by_id ON announcements (application, id)",
            """
            CREATE TABLE announcement_parts (
                application BYTEA NOT NULL,
                announcement BYTEA NOT NULL,
                part_index BIGINT NOT NULL,
                id BYTEA NOT NULL,
                mime_type TEXT NOT NULL,
                body BYTEA NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX announcement_parts_by_announcement
            ON announcement_parts (application, announcement, part_index)
            """,
            // A row for each recipient, narrow, because there may be 10,000: what is said stands once.
            """
            CREATE TABLE announcement_recipients (
                application BYTEA NOT NULL,
                announcement BYTEA NOT NULL,
                user_id TEXT NOT NULL,
                place BIGINT NOT NULL,
                sent_at BIGINT NOT NULL,
                status TEXT NOT NULL,
                deleted_at BIGINT
            )
            """,
            """
            CREATE UNIQUE INDEX announcement_recipients_by_announcement
            ON announcement_recipients (application, announcement, user_id)
            """,
            """
            CREATE INDEX announcement_recipients_by_user
            ON announcement_recipients (application, user_id, sent_at, announcement)
            WHERE deleted_at IS NULL
            """,
            // How many announcements a user has not deleted: a list tells its total on every page.
            "ALTER TABLE identities ADD COLUMN announcement_count BIGINT NOT NULL DEFAULT 0",
            """
            CREATE TABLE notification_keys (
                application BYTEA NOT NULL,
                replay_key BYTEA NOT NULL,
                sent_at BIGINT NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX notification_keys_by_key
            ON notification_keys (application, replay_key)
            """,
            """
            CREATE INDEX notification_keys_by_time ON notification_keys (application, sent_at)
            """,
            // Messages that wait to be sent, in the form of their event; gone once they are.
            """
            CREATE TABLE scheduled_messages (
                application BYTEA NOT NULL,
                id BYTEA NOT NULL,
                due_at BIGINT NOT NULL,
                turn BIGINT NOT NULL,
                payload BYTEA NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX scheduled_messages_by_id ON scheduled_messages (application, id)
            """,
            """
            CREATE INDEX scheduled_messages_by_turn ON scheduled_messages (application, turn)
            """,
            // What is due next is asked of all applications at once: one clock wakes for them all.
            """
            CREATE INDEX scheduled_messages_by_time
            ON scheduled_messages (due_at, application, turn)
            """,
            // Who uploaded a content may read it before a message shows it to him (R86).
            "ALTER TABLE contents ADD COLUMN uploader TEXT",
        ])
}
