import SQL

// What a user sees of a conversation stands in his row of `participants`: counts, last message and
// sort key, so that a list is read from an index. A sending changes the rows of those it reaches.
extension SchemaMigration {
    static let views = SchemaMigration(
        number: 2, name: "views",
        statements: [
            "ALTER TABLE participants ADD COLUMN state TEXT NOT NULL DEFAULT 'shown'",
            "ALTER TABLE participants ADD COLUMN cleared_to BIGINT NOT NULL DEFAULT 0",
            // The message whose sending last brought the conversation into the view.
            "ALTER TABLE participants ADD COLUMN shown_from BIGINT",
            "ALTER TABLE participants ADD COLUMN total_count BIGINT NOT NULL DEFAULT 0",
            // Messages between joining the conversation's history and its end that he does not see.
            "ALTER TABLE participants ADD COLUMN unshown_count BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE participants ADD COLUMN unread_count BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE participants ADD COLUMN last_position BIGINT",
            "ALTER TABLE participants ADD COLUMN last_message BYTEA",
            "ALTER TABLE participants ADD COLUMN last_at BIGINT NOT NULL DEFAULT 0",
            """
            UPDATE participants SET
                total_count = COALESCE(messages_until, (
                    SELECT c.message_count FROM conversations c
                    WHERE c.application = participants.application
                        AND c.id = participants.conversation
                )),
                (last_position, last_message) = (
                    SELECT m.position, m.id FROM messages m
                    WHERE m.application = participants.application
                        AND m.conversation = participants.conversation
                        AND m.position <= COALESCE(participants.left_after, m.position)
                    ORDER BY m.position DESC LIMIT 1
                ),
                last_at = COALESCE((
                    SELECT m.sent_at FROM messages m
                    WHERE m.application = participants.application
                        AND m.conversation = participants.conversation
                        AND m.position <= COALESCE(participants.left_after, m.position)
                    ORDER BY m.position DESC LIMIT 1
                ), conversation_created_at)
            """,
            """
            UPDATE participants
            SET unread_count = total_count - messages_before - sent_count - read_count
            WHERE total_count > messages_before + sent_count + read_count
            """,
            "ALTER TABLE participants DROP COLUMN messages_before",
            "ALTER TABLE participants DROP COLUMN messages_until",
            "ALTER TABLE participants DROP COLUMN sent_count",
            "ALTER TABLE participants DROP COLUMN read_count",
            "DROP INDEX participants_by_user",
            """
            CREATE INDEX participants_by_creation
            ON participants (application, user_id, conversation_created_at, conversation)
            WHERE state = 'shown'
            """,
            """
            CREATE INDEX participants_by_last_message
            ON participants (application, user_id, last_at, conversation)
            WHERE state = 'shown'
            """,
            // Single messages a user does not see: deleted by him (R29), or hidden by a block (R32).
            """
            CREATE TABLE hidden_messages (
                application BYTEA NOT NULL,
                conversation BYTEA NOT NULL,
                position BIGINT NOT NULL,
                user_id TEXT NOT NULL
            )
            """,
            """
            CREATE UNIQUE INDEX hidden_messages_by_position
            ON hidden_messages (application, conversation, position, user_id)
            """,
        ])
}
