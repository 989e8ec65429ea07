internal import SQL

/// The tables of a store.
///
/// Ids of conversations and messages are the 16 bytes of their UUIDs, times are milliseconds since 1970 UTC, and user
/// ids compare as bytes. A row of `conversations` and `messages` has what the server last sent, and beside it what is
/// shown: the same with the pending commands of `outbox` applied (K17).
enum StoreSchema {
    static let migrations = [
        SchemaMigration(number: 1, name: "first schema", statements: tables),
        SchemaMigration(
            number: 2, name: "indexes of waiting commands", statements: indexesOfWaiting),
        SchemaMigration(number: 3, name: "index of deliveries", statements: indexOfDeliveries),
    ]

    private static let tables: [SQL] = [
        // `user`, `cursor`, `history` and what else the client remembers between runs.
        "CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
        """
        CREATE TABLE conversations (
            id BLOB NOT NULL PRIMARY KEY,
            -- The object of the feed as JSON; NULL until the server has sent it.
            base BLOB,
            -- The number of the snapshot that last named it; 0 for none.
            snapshot INTEGER NOT NULL DEFAULT 0,
            -- The positions of which every message is here (K13), as text: 1-40,42.
            held TEXT NOT NULL DEFAULT '',
            is_hidden INTEGER NOT NULL DEFAULT 0,
            is_created INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER,
            is_participant INTEGER NOT NULL DEFAULT 1,
            is_distinct INTEGER NOT NULL DEFAULT 0,
            -- The ids of the participants, this user included, sorted by bytes and separated by U+0000.
            participant_set TEXT NOT NULL DEFAULT '',
            metadata TEXT NOT NULL DEFAULT '{}',
            unread_count INTEGER NOT NULL DEFAULT 0,
            total_count INTEGER NOT NULL DEFAULT 0,
            last_message BLOB,
            -- When the last message reached the user, without one when the conversation was created.
            active_at INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID
        """,
        "CREATE INDEX conversations_by_activity ON conversations (is_hidden, active_at)",
        "CREATE INDEX conversations_by_participants ON conversations (participant_set)",
        """
        CREATE TABLE participants (
            conversation BLOB NOT NULL, user TEXT NOT NULL, place INTEGER NOT NULL,
            PRIMARY KEY (conversation, user)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX participants_by_user ON participants (user)",
        """
        CREATE TABLE metadata (
            conversation BLOB NOT NULL, path TEXT NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (conversation, path)
        ) WITHOUT ROWID
        """,
        "CREATE TABLE aliases (former BLOB NOT NULL PRIMARY KEY, conversation BLOB NOT NULL)",
        "CREATE INDEX aliases_by_conversation ON aliases (conversation)",
        """
        CREATE TABLE messages (
            id BLOB NOT NULL PRIMARY KEY,
            -- NULL for an announcement.
            conversation BLOB,
            snapshot INTEGER NOT NULL DEFAULT 0,
            -- NULL until the server has it.
            position INTEGER,
            -- The order in a conversation: the position, and for unsent messages 2^62 and the order of sending.
            place INTEGER NOT NULL,
            sender TEXT, sender_name TEXT,
            sent_at INTEGER, received_at INTEGER,
            -- The recipients as a JSON array of user ids.
            recipients TEXT NOT NULL DEFAULT '[]',
            -- Whether the server counts it as unread, and the row of the outbox that has read it here; 0 for none.
            base_unread INTEGER NOT NULL DEFAULT 0,
            read_by INTEGER NOT NULL DEFAULT 0,
            -- A message of another user whose delivery the server does not know.
            needs_delivery INTEGER NOT NULL DEFAULT 0,
            is_unread INTEGER NOT NULL DEFAULT 0,
            is_hidden INTEGER NOT NULL DEFAULT 0,
            -- Whether the server has it.
            is_sent INTEGER NOT NULL DEFAULT 1
        )
        """,
        "CREATE INDEX messages_by_place ON messages (conversation, place)",
        "CREATE INDEX messages_unread ON messages (conversation, position) WHERE base_unread = 1",
        "CREATE INDEX messages_read_here ON messages (read_by) WHERE read_by > 0",
        "CREATE INDEX messages_unsent ON messages (conversation) WHERE position IS NULL",
        "CREATE INDEX messages_moved ON messages (snapshot) WHERE snapshot = -1",
        "CREATE INDEX messages_to_deliver ON messages (conversation) WHERE needs_delivery = 1",
        "CREATE INDEX messages_unread_shown ON messages (conversation, place) WHERE is_unread = 1",
        // How many messages of a conversation are shown. Counting 1,000,000 rows takes half a second, and a live query
        // has the number in each of its sets.
        """
        CREATE TABLE message_counts (
            conversation BLOB NOT NULL PRIMARY KEY, shown INTEGER NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TRIGGER messages_inserted AFTER INSERT ON messages
        WHEN NEW.is_hidden = 0 AND NEW.conversation IS NOT NULL BEGIN
            INSERT INTO message_counts (conversation, shown) VALUES (NEW.conversation, 1)
            ON CONFLICT (conversation) DO UPDATE SET shown = shown + 1;
        END
        """,
        """
        CREATE TRIGGER messages_deleted AFTER DELETE ON messages
        WHEN OLD.is_hidden = 0 AND OLD.conversation IS NOT NULL BEGIN
            UPDATE message_counts SET shown = shown - 1 WHERE conversation = OLD.conversation;
        END
        """,
        """
        CREATE TRIGGER messages_updated AFTER UPDATE OF conversation, is_hidden ON messages
        WHEN OLD.is_hidden <> NEW.is_hidden OR OLD.conversation IS NOT NEW.conversation BEGIN
            UPDATE message_counts SET shown = shown - 1
            WHERE conversation = OLD.conversation AND OLD.is_hidden = 0;
            INSERT INTO message_counts (conversation, shown)
            SELECT NEW.conversation, 1 WHERE NEW.is_hidden = 0 AND NEW.conversation IS NOT NULL
            ON CONFLICT (conversation) DO UPDATE SET shown = shown + 1;
        END
        """,
        """
        CREATE TABLE parts (
            message BLOB NOT NULL, part INTEGER NOT NULL,
            -- The last segment of its id: a UUID, or the index of a part of an announcement.
            name TEXT NOT NULL,
            mime_type TEXT NOT NULL, size INTEGER NOT NULL,
            -- The bytes, if they are in the message.
            body BLOB,
            -- The id of the content at the server; NULL for inline parts, and before its upload began.
            content BLOB,
            status INTEGER NOT NULL,
            -- The name of its file in the folder of contents; NULL for inline parts, and where nothing is here.
            file TEXT,
            -- When the file was last read, to the minute; NULL if it was never here.
            accessed_at INTEGER,
            -- Where an unsent part is uploaded to: a credential.
            upload_url TEXT,
            -- The bytes that an upload has at the server, or a download here, as last known.
            held INTEGER NOT NULL DEFAULT 0,
            -- The entity tag of a download that has begun.
            etag TEXT,
            -- Whether it is to be downloaded: 0 no, 1 by the rule of automatic downloads, 2 asked for.
            wanted INTEGER NOT NULL DEFAULT 0,
            is_paused INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (message, part)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX parts_by_status ON parts (status)",
        "CREATE INDEX parts_wanted ON parts (wanted) WHERE wanted > 0",
        "CREATE INDEX parts_here ON parts (accessed_at) WHERE file IS NOT NULL",
        """
        CREATE TABLE receipts (
            conversation BLOB NOT NULL, user TEXT NOT NULL, snapshot INTEGER NOT NULL,
            delivered TEXT NOT NULL, read TEXT NOT NULL,
            PRIMARY KEY (conversation, user)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE identities (
            user TEXT NOT NULL PRIMARY KEY,
            -- Whether the feed sends it; other rows have what conversations and messages say of a user.
            is_followed INTEGER NOT NULL, snapshot INTEGER NOT NULL,
            display_name TEXT, first_name TEXT, last_name TEXT, email_address TEXT, phone_number TEXT,
            public_key TEXT, avatar_url TEXT, metadata TEXT NOT NULL DEFAULT '{}'
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE outbox (
            number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            -- Rows of one lane are sent in turn.
            lane TEXT NOT NULL,
            kind TEXT NOT NULL,
            conversation BLOB, message BLOB,
            -- The body of the request, or what it is made of.
            payload BLOB NOT NULL,
            -- The idempotency key.
            key TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            -- When it was first sent with this key; NULL before.
            sent_at INTEGER,
            -- The answer's position in the feed: the row is deleted when the feed has come there (K18).
            answered_epoch TEXT, answered_position INTEGER,
            -- The error of a send that was refused, as JSON.
            failure TEXT,
            -- Whether later messages may be sent while this one is uploaded.
            may_be_overtaken INTEGER NOT NULL DEFAULT 0
        )
        """,
        "CREATE INDEX outbox_by_lane ON outbox (lane, number)",
        "CREATE INDEX outbox_by_conversation ON outbox (conversation)",
        "CREATE INDEX outbox_by_message ON outbox (message)",
        "CREATE INDEX outbox_answered ON outbox (answered_position) WHERE answered_position IS NOT NULL",
    ]
    /// What waits is found without reading what does not: with thousands of unsent messages in a conversation, another one
    /// costs as much as the first.
    private static let indexesOfWaiting: [SQL] = [
        "DROP INDEX outbox_by_lane",
        "CREATE INDEX outbox_waiting ON outbox (lane) WHERE answered_position IS NULL",
        "DROP INDEX outbox_by_conversation",
        "CREATE INDEX outbox_by_conversation ON outbox (conversation, kind)",
        "CREATE INDEX outbox_failed ON outbox (conversation, kind) WHERE failure IS NOT NULL",
        // With one column SQLite prefers the index of all conversations that are shown.
        "DROP INDEX conversations_by_participants",
        "CREATE INDEX conversations_by_participants ON conversations (participant_set, is_hidden)",
        // How many of the shown messages have no position. The old index still finds them.
        "ALTER TABLE message_counts ADD COLUMN unsent INTEGER NOT NULL DEFAULT 0",
        """
        UPDATE message_counts SET unsent = (
            SELECT count(*) FROM messages WHERE messages.conversation = message_counts.conversation
                AND messages.position IS NULL AND messages.is_hidden = 0)
        """,
        "DROP INDEX messages_unsent",
        "CREATE INDEX messages_unsent ON messages (is_sent, conversation, place) WHERE is_sent = 0",
        "DROP INDEX messages_moved",
        "CREATE INDEX messages_moved ON messages (snapshot, conversation) WHERE snapshot = -1",
        // Nearly all parts are complete: 4.
        "DROP INDEX parts_by_status",
        "CREATE INDEX parts_by_status ON parts (status) WHERE status < 4",
        "DROP TRIGGER messages_inserted",
        """
        CREATE TRIGGER messages_inserted AFTER INSERT ON messages
        WHEN NEW.is_hidden = 0 AND NEW.conversation IS NOT NULL BEGIN
            INSERT INTO message_counts (conversation, shown, unsent)
            VALUES (NEW.conversation, 1, NEW.position IS NULL)
            ON CONFLICT (conversation) DO UPDATE SET shown = shown + 1, unsent = unsent + excluded.unsent;
        END
        """,
        "DROP TRIGGER messages_deleted",
        """
        CREATE TRIGGER messages_deleted AFTER DELETE ON messages
        WHEN OLD.is_hidden = 0 AND OLD.conversation IS NOT NULL BEGIN
            UPDATE message_counts SET shown = shown - 1, unsent = unsent - (OLD.position IS NULL)
            WHERE conversation = OLD.conversation;
        END
        """,
        "DROP TRIGGER messages_updated",
        """
        CREATE TRIGGER messages_updated AFTER UPDATE OF conversation, position, is_hidden ON messages
        WHEN OLD.is_hidden <> NEW.is_hidden OR OLD.conversation IS NOT NEW.conversation
            OR (OLD.position IS NULL) <> (NEW.position IS NULL) BEGIN
            UPDATE message_counts SET shown = shown - 1, unsent = unsent - (OLD.position IS NULL)
            WHERE conversation = OLD.conversation AND OLD.is_hidden = 0;
            INSERT INTO message_counts (conversation, shown, unsent)
            SELECT NEW.conversation, 1, NEW.position IS NULL
            WHERE NEW.is_hidden = 0 AND NEW.conversation IS NOT NULL
            ON CONFLICT (conversation) DO UPDATE SET shown = shown + 1, unsent = unsent + excluded.unsent;
        END
        """,
    ]
    /// A receipt finds its messages without reading others that were not reported.
    private static let indexOfDeliveries: [SQL] = [
        "DROP INDEX messages_to_deliver",
        "CREATE INDEX messages_to_deliver ON messages (conversation, position) WHERE needs_delivery = 1",
    ]
}
