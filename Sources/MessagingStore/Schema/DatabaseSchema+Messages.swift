import SQL

// The tables of users, conversations and messages, and what is sent outside of conversations.
extension DatabaseSchema {
    static let messageTables: [SQL] = [
        // All users of an application. Columns with long values come last, because they are read rarely.
        // `status`: 0 only referred to, 1 named by others, 2 identity provided.
        """
        CREATE TABLE identities (
            application BYTEA NOT NULL,
            user_id TEXT NOT NULL,
            display_name TEXT,
            avatar_url TEXT,
            kind TEXT NOT NULL,
            conversation_count BIGINT NOT NULL,
            status BIGINT NOT NULL DEFAULT 1,
            identity_version BIGINT NOT NULL DEFAULT 1,
            is_suspended BIGINT NOT NULL DEFAULT 0,
            sessions_ended_at BIGINT,
            external_unread_count BIGINT NOT NULL DEFAULT 0,
            following_count BIGINT NOT NULL DEFAULT 0,
            first_name TEXT,
            last_name TEXT,
            phone_number TEXT,
            email_address TEXT,
            metadata BYTEA,
            public_key TEXT,
            announcement_count BIGINT NOT NULL DEFAULT 0,
            created_at BIGINT NOT NULL DEFAULT 0
        )
        """,
        "CREATE UNIQUE INDEX identities_by_user ON identities (application, user_id)",
        "CREATE INDEX identities_by_creation ON identities (application, created_at, user_id)",
        // A directed block (R30); a row with owner = blocked has no effect. A block starts at `since`.
        """
        CREATE TABLE blocks (
            application BYTEA NOT NULL,
            owner TEXT NOT NULL,
            blocked TEXT NOT NULL,
            since BIGINT NOT NULL DEFAULT 1
        )
        """,
        "CREATE UNIQUE INDEX blocks_by_owner ON blocks (application, owner, blocked)",
        "CREATE INDEX blocks_by_blocked ON blocks (application, blocked, owner)",
        // Blocks that have ended: a user that is added later does not see what was sent during them.
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
        // One row for each followed user: explicitly, or since the two first shared a conversation (is_kept);
        // or while conversations connect them (shared_count).
        """
        CREATE TABLE following (
            application BYTEA NOT NULL,
            follower TEXT NOT NULL,
            followed TEXT NOT NULL,
            is_kept BIGINT NOT NULL,
            shared_count BIGINT NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX following_by_follower ON following (application, follower, followed)",
        "CREATE INDEX following_by_followed ON following (application, followed, follower)",
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
        // At most one live distinct conversation for each set of participants (R3, R8); all others have NULL
        // here.
        """
        CREATE UNIQUE INDEX conversations_by_distinct_key
        ON conversations (application, distinct_key)
        """,
        """
        CREATE INDEX conversations_by_creation
        ON conversations (application, created_at, id)
        WHERE deleted_at IS NULL
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
        CREATE INDEX conversation_aliases_by_conversation
        ON conversation_aliases (application, conversation)
        """,
        // A participant's view of a conversation: counts, last message and sort keys are stored, so that lists
        // are read from an index. Sending a message updates the rows of its recipients.
        // `shown_from`: the message that last brought the conversation into the view.
        // `unshown_count`: messages of the conversation that the participant does not see.
        """
        CREATE TABLE participants (
            application BYTEA NOT NULL,
            conversation BYTEA NOT NULL,
            user_id TEXT NOT NULL,
            place BIGINT NOT NULL,
            past TEXT NOT NULL,
            joined_after BIGINT NOT NULL,
            left_after BIGINT,
            frozen_metadata BYTEA,
            conversation_created_at BIGINT NOT NULL,
            state TEXT NOT NULL DEFAULT 'shown',
            cleared_to BIGINT NOT NULL DEFAULT 0,
            shown_from BIGINT,
            total_count BIGINT NOT NULL DEFAULT 0,
            unshown_count BIGINT NOT NULL DEFAULT 0,
            unread_count BIGINT NOT NULL DEFAULT 0,
            last_position BIGINT,
            last_message BYTEA,
            last_at BIGINT NOT NULL DEFAULT 0
        )
        """,
        """
        CREATE UNIQUE INDEX participants_by_conversation
        ON participants (application, conversation, user_id)
        """,
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
        // Each message reads the current participants, however many have left.
        """
        CREATE INDEX participants_present
        ON participants (application, conversation)
        WHERE left_after IS NULL
        """,
        // A badge sums the rows with unread messages. The count is no column of the index, so that another
        // unread message leaves the index unchanged.
        """
        CREATE INDEX participants_unread
        ON participants (application, user_id)
        WHERE state = 'shown' AND unread_count > 0
        """,
        // `parts_made`: the number of parts ever added; NULL if none was added after sending.
        // `weight`: the approximate size in a response, so that a page can end before parts are read.
        // `event`: the event that recorded the message.
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
            version BIGINT NOT NULL,
            parts_made BIGINT,
            weight BIGINT NOT NULL DEFAULT 0,
            event BIGINT NOT NULL DEFAULT 0,
            blocks_changed_at BIGINT NOT NULL DEFAULT 0
        )
        """,
        "CREATE UNIQUE INDEX messages_by_id ON messages (application, id)",
        """
        CREATE UNIQUE INDEX messages_by_position
        ON messages (application, conversation, position)
        """,
        // `place`: the position chosen by the caller; NULL for the order of creation.
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
            updated_at BIGINT,
            place BIGINT
        )
        """,
        "CREATE UNIQUE INDEX parts_by_message ON parts (application, message, part_index)",
        "CREATE INDEX parts_by_content ON parts (application, content) WHERE content IS NOT NULL",
        // Single messages that a user does not see: deleted by the user (R29), or hidden by a block (R32).
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
        // `uploader`: the user that may read the content before a message shows it to them (R86).
        // `use_count`: the number of parts and scheduled messages that refer to the content.
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
            origin TEXT,
            uploader TEXT,
            use_count BIGINT NOT NULL DEFAULT 0,
            sha512 BYTEA
        )
        """,
        "CREATE UNIQUE INDEX contents_by_id ON contents (application, id)",
        "CREATE INDEX contents_by_conversation ON contents (application, conversation)",
        // A signed download URL names only the content; its signature is the permission.
        "CREATE INDEX contents_by_name ON contents (id)",
        // Scanned for contents that no message refers to.
        "CREATE INDEX contents_unused ON contents (application, completed_at) WHERE use_count = 0",
        // Contents whose bytes are still to be deleted, after the transaction that removed the rows.
        """
        CREATE TABLE dropped_contents (
            application BYTEA NOT NULL,
            content BYTEA NOT NULL
        )
        """,
        """
        CREATE UNIQUE INDEX dropped_contents_by_content
        ON dropped_contents (application, content)
        """,
        // What was created with an `If-None-Match` key.
        """
        CREATE TABLE replay_keys (
            application BYTEA NOT NULL,
            kind TEXT NOT NULL,
            replay_key BYTEA NOT NULL,
            object BYTEA NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX replay_keys_by_key ON replay_keys (application, kind, replay_key)",
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
        // One narrow row for each of up to 10,000 recipients; the parts are stored once.
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
        "CREATE INDEX notification_keys_by_time ON notification_keys (application, sent_at)",
        // Messages that are not yet due, in the form of their event; deleted once they are sent.
        """
        CREATE TABLE scheduled_messages (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            due_at BIGINT NOT NULL,
            turn BIGINT NOT NULL,
            payload BYTEA NOT NULL,
            trace TEXT
        )
        """,
        "CREATE UNIQUE INDEX scheduled_messages_by_id ON scheduled_messages (application, id)",
        "CREATE INDEX scheduled_messages_by_turn ON scheduled_messages (application, turn)",
        // The next due message is looked up for all applications at once.
        "CREATE INDEX scheduled_messages_by_time ON scheduled_messages (due_at, application, turn)",
        """
        CREATE TABLE scheduled_contents (
            application BYTEA NOT NULL,
            message BYTEA NOT NULL,
            content BYTEA NOT NULL
        )
        """,
        "CREATE INDEX scheduled_contents_by_message ON scheduled_contents (application, message)",
    ]
}
