import SQL

// The tables of users, conversations, messages, contents, announcements and scheduled messages.
extension DatabaseSchema {
    static let messageTables: [SQL] = [
        // All users of an application. Columns with long values come last, because they are read rarely.
        // `kind`: the raw value of `Identity.Kind`.
        // `status`: the raw value of `User.IdentityStatus`: 0 no identity, 1 created when others named the user, 2
        // provided by the application.
        // `conversation_count`: the number of conversations in the user's list.
        // `sessions_ended_at`: sessions that began up to then have ended.
        // `external_unread_count`: the badge count that the application sets.
        // `following_count`: the number of users that the user follows.
        // `announcement_count`: the number of announcements in the user's list.
        // `identity_event`: the position of the event that last changed the identity.
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
            created_at BIGINT NOT NULL DEFAULT 0,
            identity_event BIGINT NOT NULL DEFAULT 0
        )
        """,
        "CREATE UNIQUE INDEX identities_by_user ON identities (application, user_id)",
        "CREATE INDEX identities_by_creation ON identities (application, created_at, user_id)",
        // `owner` blocks `blocked` (R30) since the time `since`; a row with owner = blocked has no effect.
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
        // Blocks that have ended, with their times: a user that is added to a conversation later does not see the
        // messages that were sent during a block.
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
        // One row for each user that another one follows.
        // `is_kept`: whether this is independent of conversations that the two share now: the user was followed
        // explicitly, or became followed when a conversation first connected the two. A row without it is deleted when
        // no conversation connects the two any more.
        // `event`: the position of the event since which the user is followed.
        """
        CREATE TABLE following (
            application BYTEA NOT NULL,
            follower TEXT NOT NULL,
            followed TEXT NOT NULL,
            is_kept BIGINT NOT NULL,
            event BIGINT NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX following_by_follower ON following (application, follower, followed)",
        // When a participant of a wide conversation took part and saw it, as positions of events: the users that
        // follow each other through it are computed from these rows (ruling 39). `until`: NULL for a current participant.
        """
        CREATE TABLE wide_stays (
            application BYTEA NOT NULL,
            conversation BYTEA NOT NULL,
            user_id TEXT NOT NULL,
            since BIGINT NOT NULL,
            sees_since BIGINT,
            until BIGINT
        )
        """,
        "CREATE INDEX wide_stays_by_user ON wide_stays (application, user_id)",
        """
        CREATE UNIQUE INDEX wide_stays_by_conversation
        ON wide_stays (application, conversation, user_id, since)
        """,
        // Users that are not followed any more because of wide conversations from before an event.
        """
        CREATE TABLE unfollowed (
            application BYTEA NOT NULL,
            follower TEXT NOT NULL,
            followed TEXT NOT NULL,
            event BIGINT NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX unfollowed_by_follower ON unfollowed (application, follower, followed)",
        // `distinct_key`: the digest of the participants of a live distinct conversation (`DistinctKey`); otherwise
        // NULL.
        // `is_announced`: whether it is visible to all participants; the first message announces a conversation that was
        // created on behalf of a user.
        // `last_position`: the highest position of a message, also of a deleted one.
        // `message_count`: the number of messages that are not deleted.
        // `metadata`: all writes with their times, so that conversations can be merged.
        // `participant_count`: the number of current participants.
        // `is_wide`: whether the rows of its current participants are relative; see `participants`.
        // `changed`: the position of the event that last changed what its current participants see of it.
        // `unsorted_from`: messages that were sent at this moment or later may not be in the order of sending, because a
        // merge or an import added some; NULL if all are.
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
            version BIGINT NOT NULL,
            participant_count BIGINT NOT NULL DEFAULT 0,
            is_wide BIGINT NOT NULL DEFAULT 0,
            changed BIGINT NOT NULL DEFAULT 0,
            unsorted_from BIGINT
        )
        """,
        "CREATE UNIQUE INDEX conversations_by_id ON conversations (application, id)",
        // At most one live distinct conversation for each set of participants (R3, R8). NULL values are not unique.
        """
        CREATE UNIQUE INDEX conversations_by_distinct_key
        ON conversations (application, distinct_key)
        """,
        """
        CREATE INDEX conversations_by_creation
        ON conversations (application, created_at, id)
        WHERE deleted_at IS NULL
        """,
        // Looked up for sorts that were interrupted.
        """
        CREATE INDEX conversations_unsorted
        ON conversations (application, id)
        WHERE unsorted_from IS NOT NULL
        """,
        // The ids of merged conversations, and proposed ids of conversations that existed already (X1.6).
        // `event`, `merged_at`: the position and the time of the event that made the alias.
        """
        CREATE TABLE conversation_aliases (
            application BYTEA NOT NULL,
            alias BYTEA NOT NULL,
            conversation BYTEA NOT NULL,
            event BIGINT NOT NULL,
            merged_at BIGINT NOT NULL
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
        // A current or former participant, and their view of the conversation. Counts, last message and sort keys are
        // stored, so that lists are read from an index. Sending a message updates the rows of its recipients.
        // `place`: the index in the order of participants.
        // `past`: the positions of messages sent during earlier participations, as the text of an `IntervalSet`.
        // `joined_after`: the last position before the user joined; later messages can be unread.
        // `left_after`: the last position that a former participant sees; NULL for a current participant.
        // `frozen_metadata`: the metadata that a former participant sees.
        // `state`: the raw value of `ViewState`.
        // `cleared_to`: the user deleted all messages up to this position from the view.
        // `shown_from`: the position of the message that last brought the conversation into the view; NULL for none.
        // `total_count`: the number of messages in the view.
        // `unshown_count`: the number of messages that are not in the view, up to `left_after`.
        // `last_position`, `last_message`: the last message in the view; NULL for none.
        // `last_at`: when that message was sent; without one, when the conversation was created.
        // `is_wide`: a current participant of a wide conversation, whose row a message does not change:
        // `total_count` and `unread_count` are relative to the `message_count` of the conversation, and the last
        // message is looked up when it is read.
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
            last_at BIGINT NOT NULL DEFAULT 0,
            is_wide BIGINT NOT NULL DEFAULT 0
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
        WHERE state = 'shown' AND is_wide = 0
        """,
        // The wide conversations of a user: they are sorted by last message when they are read.
        """
        CREATE INDEX participants_wide
        ON participants (application, user_id)
        WHERE is_wide = 1 AND state = 'shown'
        """,
        // Conversations that connect a user with others, although they are not in the user's list.
        """
        CREATE INDEX participants_cleared
        ON participants (application, user_id)
        WHERE state = 'cleared'
        """,
        // Sending a message reads only current participants, however many have left.
        """
        CREATE INDEX participants_present
        ON participants (application, conversation, place)
        WHERE left_after IS NULL
        """,
        // Sending a message in a wide conversation reads only those that do not see the conversation.
        """
        CREATE INDEX participants_not_seeing
        ON participants (application, conversation)
        WHERE is_wide = 1 AND state <> 'shown'
        """,
        // A badge sums the rows with unread messages. The index does not contain the count, so that another unread
        // message leaves it unchanged.
        """
        CREATE INDEX participants_unread
        ON participants (application, user_id)
        WHERE state = 'shown' AND unread_count > 0
        """,
        // `sender_user`, `sender_name`: exactly one of them is set; a name is that of a service.
        // `parts_made`: the number of parts ever added; NULL until the parts are changed for the first time.
        // `weight`: the approximate size in a response in bytes, so that a page can end before parts are read.
        // `event`: the position of the event that recorded the message.
        // `changed`: the position of the event that last changed it, for the feeds of users (Y1). NULL for a message that
        // was sent here and has not changed since: feeds find it by its position, which is above those of all messages
        // with earlier events.
        // `blocks_changed_at`: the time of the application's last block change before the message; it determines during
        // which blocks the message was sent.
        """
        CREATE TABLE messages (
            position BIGINT NOT NULL,
            sent_at BIGINT NOT NULL,
            version BIGINT NOT NULL,
            weight BIGINT NOT NULL DEFAULT 0,
            event BIGINT NOT NULL DEFAULT 0,
            changed BIGINT,
            blocks_changed_at BIGINT NOT NULL DEFAULT 0,
            updated_at BIGINT,
            parts_made BIGINT,
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            conversation BYTEA NOT NULL,
            sender_user TEXT,
            sender_name TEXT
        )
        """,
        "CREATE UNIQUE INDEX messages_by_id ON messages (application, id)",
        """
        CREATE UNIQUE INDEX messages_by_position
        ON messages (application, conversation, position)
        """,
        // Contains only changed, moved and imported messages.
        """
        CREATE INDEX messages_by_change
        ON messages (application, conversation, changed)
        WHERE changed IS NOT NULL
        """,
        // `part_index`: the number of the part in the order of creation, from 0; it is not used again.
        // `body`, `content`: exactly one of them is set: the bytes, or the content that has them.
        // `place`: the index chosen by the caller; parts without one come last, in the order of creation.
        """
        CREATE TABLE parts (
            part_index BIGINT NOT NULL,
            size BIGINT NOT NULL,
            updated_at BIGINT,
            place BIGINT,
            application BYTEA NOT NULL,
            message BYTEA NOT NULL,
            id BYTEA NOT NULL,
            mime_type TEXT NOT NULL,
            body BYTEA,
            content BYTEA
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
        // `delivered`, `read`: the positions that a participant has received and read, as the text of an `IntervalSet`.
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
        // `conversation`: NULL until the first use, if the content was uploaded without a conversation.
        // `origin`: the web origin that receives CORS headers.
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
        // Scanned for contents that are not used.
        "CREATE INDEX contents_unused ON contents (application, completed_at) WHERE use_count = 0",
        // The uses of contents by messages of other conversations than the one that they belong to (ruling 47). They are
        // part of the `use_count` of the content.
        """
        CREATE TABLE shared_contents (
            application BYTEA NOT NULL,
            content BYTEA NOT NULL,
            conversation BYTEA NOT NULL,
            use_count BIGINT NOT NULL
        )
        """,
        """
        CREATE UNIQUE INDEX shared_contents_by_content
        ON shared_contents (application, content, conversation)
        """,
        """
        CREATE INDEX shared_contents_by_conversation
        ON shared_contents (application, conversation)
        """,
        // Contents whose rows are deleted and whose bytes are still to be deleted.
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
        // The objects that were created with an `If-None-Match` key, and reserved ids of messages.
        // `kind`: the raw value of `Replay.Kind`.
        // `object`: the id of the object.
        """
        CREATE TABLE replay_keys (
            application BYTEA NOT NULL,
            kind TEXT NOT NULL,
            replay_key BYTEA NOT NULL,
            object BYTEA NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX replay_keys_by_key ON replay_keys (application, replay_key, kind)",
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
        // `place`: the index among the recipients.
        // `status`: the raw value of `RecipientStatus`.
        // `deleted_at`: when the recipient deleted the announcement.
        // `event`: the position of the event that last changed the row.
        """
        CREATE TABLE announcement_recipients (
            application BYTEA NOT NULL,
            announcement BYTEA NOT NULL,
            user_id TEXT NOT NULL,
            place BIGINT NOT NULL,
            sent_at BIGINT NOT NULL,
            status TEXT NOT NULL,
            deleted_at BIGINT,
            event BIGINT NOT NULL
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
        CREATE INDEX announcement_recipients_by_event
        ON announcement_recipients (application, user_id, event)
        """,
        // The `If-None-Match` keys of notifications without a message, valid for 24 hours.
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
        // Messages that are not yet sent.
        // `turn`: the number in the order of acceptance, within the application.
        // `payload`: the encoded `ScheduledMessage`.
        // `trace`: the trace of the request, as `id-flags`.
        """
        CREATE TABLE scheduled_messages (
            application BYTEA NOT NULL,
            id BYTEA NOT NULL,
            due_at BIGINT NOT NULL,
            turn BIGINT NOT NULL,
            payload BYTEA NOT NULL,
            typing_from BIGINT,
            trace TEXT
        )
        """,
        "CREATE UNIQUE INDEX scheduled_messages_by_id ON scheduled_messages (application, id)",
        "CREATE INDEX scheduled_messages_by_turn ON scheduled_messages (application, turn)",
        // The next due message is looked up for all applications at once.
        "CREATE INDEX scheduled_messages_by_time ON scheduled_messages (due_at, application, turn)",
        // `typing_from`: when the sender begins to be shown as typing; NULL for never.
        """
        CREATE INDEX scheduled_messages_by_typing ON scheduled_messages (typing_from)
        WHERE typing_from IS NOT NULL
        """,
        // The contents of scheduled messages, one row for each use.
        """
        CREATE TABLE scheduled_contents (
            application BYTEA NOT NULL,
            conversation BYTEA NOT NULL,
            message BYTEA NOT NULL,
            content BYTEA NOT NULL
        )
        """,
        "CREATE INDEX scheduled_contents_by_message ON scheduled_contents (application, message)",
        """
        CREATE INDEX scheduled_contents_by_conversation
        ON scheduled_contents (application, conversation)
        """,
    ]
}
