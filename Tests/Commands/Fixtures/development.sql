PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE schema_migrations (
    number BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at BIGINT NOT NULL
);
INSERT INTO schema_migrations VALUES(1,'messaging',1795634929995);
INSERT INTO schema_migrations VALUES(2,'views',1795634930001);
INSERT INTO schema_migrations VALUES(3,'users',1795634930012);
INSERT INTO schema_migrations VALUES(4,'parts',1795634930016);
INSERT INTO schema_migrations VALUES(5,'outbox',1795634930019);
INSERT INTO schema_migrations VALUES(6,'keys',1795634930022);
INSERT INTO schema_migrations VALUES(7,'exports',1795634930024);
INSERT INTO schema_migrations VALUES(8,'sight',1795634930030);
INSERT INTO schema_migrations VALUES(9,'present',1795634930035);
INSERT INTO schema_migrations VALUES(10,'bounds',1795634930038);
INSERT INTO schema_migrations VALUES(11,'contents',1795634930042);
INSERT INTO schema_migrations VALUES(12,'leases',1795634930046);
INSERT INTO schema_migrations VALUES(13,'readers',1795634930051);
INSERT INTO schema_migrations VALUES(14,'merging',1795634930054);
INSERT INTO schema_migrations VALUES(15,'webhooks',1795634930058);
INSERT INTO schema_migrations VALUES(16,'deliveries',1795634930061);
INSERT INTO schema_migrations VALUES(17,'uploads',1795634930066);
INSERT INTO schema_migrations VALUES(18,'digests',1795634930069);
INSERT INTO schema_migrations VALUES(19,'traces',1795634930070);
INSERT INTO schema_migrations VALUES(20,'stretches',1795634930078);
INSERT INTO schema_migrations VALUES(21,'last',1795634930082);
INSERT INTO schema_migrations VALUES(22,'lists',1795634930087);
INSERT INTO schema_migrations VALUES(23,'history',1795634930091);
INSERT INTO schema_migrations VALUES(24,'block periods',1795634930095);
INSERT INTO schema_migrations VALUES(25,'upload writers',1795634930098);
CREATE TABLE log_positions (
    application BYTEA NOT NULL PRIMARY KEY,
    position BIGINT NOT NULL
, trimmed BIGINT NOT NULL DEFAULT 0, blocks_changed_at BIGINT NOT NULL DEFAULT 0);
CREATE TABLE events (
    application BYTEA NOT NULL,
    position BIGINT NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    payload BYTEA NOT NULL
, actor_user TEXT, actor_token BYTEA, trace TEXT);
CREATE TABLE applications (
    application BYTEA NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    is_suspended BIGINT NOT NULL
, session_lifetime BIGINT, content_bytes BIGINT NOT NULL DEFAULT 0, conversation_count BIGINT NOT NULL DEFAULT 0, user_count BIGINT NOT NULL DEFAULT 0);
CREATE TABLE tokens (
    application BYTEA NOT NULL,
    id BYTEA NOT NULL,
    scope TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    digest BYTEA NOT NULL
);
CREATE TABLE identities (
    application BYTEA NOT NULL,
    user_id TEXT NOT NULL,
    display_name TEXT,
    avatar_url TEXT,
    kind TEXT NOT NULL,
    conversation_count BIGINT NOT NULL
, standing BIGINT NOT NULL DEFAULT 1, identity_version BIGINT NOT NULL DEFAULT 1, is_suspended BIGINT NOT NULL DEFAULT 0, sessions_ended_at BIGINT, external_unread_count BIGINT NOT NULL DEFAULT 0, following_count BIGINT NOT NULL DEFAULT 0, first_name TEXT, last_name TEXT, phone_number TEXT, email_address TEXT, metadata BYTEA, public_key TEXT, announcement_count BIGINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL DEFAULT 0);
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
);
CREATE TABLE conversation_aliases (
    application BYTEA NOT NULL,
    alias BYTEA NOT NULL,
    conversation BYTEA NOT NULL
);
CREATE TABLE participants (
    application BYTEA NOT NULL,
    conversation BYTEA NOT NULL,
    user_id TEXT NOT NULL,
    place BIGINT NOT NULL,
    past TEXT NOT NULL,
    joined_after BIGINT NOT NULL,
    left_after BIGINT,
    frozen_metadata BYTEA,
    conversation_created_at BIGINT NOT NULL
, state TEXT NOT NULL DEFAULT 'shown', cleared_to BIGINT NOT NULL DEFAULT 0, shown_from BIGINT, total_count BIGINT NOT NULL DEFAULT 0, unshown_count BIGINT NOT NULL DEFAULT 0, unread_count BIGINT NOT NULL DEFAULT 0, last_position BIGINT, last_message BYTEA, last_at BIGINT NOT NULL DEFAULT 0);
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
, parts_made BIGINT, weight BIGINT NOT NULL DEFAULT 0, event BIGINT NOT NULL DEFAULT 0, blocks_changed_at BIGINT NOT NULL DEFAULT 0);
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
, place BIGINT);
CREATE TABLE receipts (
    application BYTEA NOT NULL,
    conversation BYTEA NOT NULL,
    user_id TEXT NOT NULL,
    delivered TEXT NOT NULL,
    read TEXT NOT NULL
);
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
, uploader TEXT, use_count BIGINT NOT NULL DEFAULT 0, sha512 BYTEA);
CREATE TABLE replay_keys (
    application BYTEA NOT NULL,
    kind TEXT NOT NULL,
    replay_key BYTEA NOT NULL,
    object BYTEA NOT NULL
);
CREATE TABLE hidden_messages (
    application BYTEA NOT NULL,
    conversation BYTEA NOT NULL,
    position BIGINT NOT NULL,
    user_id TEXT NOT NULL
);
CREATE TABLE blocks (
    application BYTEA NOT NULL,
    owner TEXT NOT NULL,
    blocked TEXT NOT NULL
, since BIGINT NOT NULL DEFAULT 1);
CREATE TABLE following (
    application BYTEA NOT NULL,
    follower TEXT NOT NULL,
    followed TEXT NOT NULL,
    is_kept BIGINT NOT NULL,
    shared_count BIGINT NOT NULL
);
CREATE TABLE announcements (
    application BYTEA NOT NULL,
    id BYTEA NOT NULL,
    sender_user TEXT,
    sender_name TEXT,
    sent_at BIGINT NOT NULL
);
CREATE TABLE announcement_parts (
    application BYTEA NOT NULL,
    announcement BYTEA NOT NULL,
    part_index BIGINT NOT NULL,
    id BYTEA NOT NULL,
    mime_type TEXT NOT NULL,
    body BYTEA NOT NULL
);
CREATE TABLE announcement_recipients (
    application BYTEA NOT NULL,
    announcement BYTEA NOT NULL,
    user_id TEXT NOT NULL,
    place BIGINT NOT NULL,
    sent_at BIGINT NOT NULL,
    status TEXT NOT NULL,
    deleted_at BIGINT
);
CREATE TABLE notification_keys (
    application BYTEA NOT NULL,
    replay_key BYTEA NOT NULL,
    sent_at BIGINT NOT NULL
);
CREATE TABLE scheduled_messages (
    application BYTEA NOT NULL,
    id BYTEA NOT NULL,
    due_at BIGINT NOT NULL,
    turn BIGINT NOT NULL,
    payload BYTEA NOT NULL
, trace TEXT);
CREATE TABLE idempotency_keys (
    application BYTEA NOT NULL,
    idempotency_key TEXT NOT NULL,
    digest BYTEA NOT NULL,
    status BIGINT NOT NULL,
    fields BYTEA NOT NULL,
    body BYTEA,
    kept_at BIGINT NOT NULL
);
CREATE TABLE export_keys (
    application BYTEA NOT NULL PRIMARY KEY,
    pem TEXT NOT NULL,
    der BYTEA NOT NULL,
    last_historical_at BIGINT
);
CREATE TABLE export_schedules (
    application BYTEA NOT NULL PRIMARY KEY,
    repetition TEXT NOT NULL,
    topics TEXT NOT NULL,
    place BIGINT NOT NULL,
    next_at BIGINT,
    last_at BIGINT,
    last_export BYTEA
);
CREATE TABLE exports (
    application BYTEA NOT NULL,
    id BYTEA NOT NULL,
    after_position BIGINT,
    through_position BIGINT,
    topics TEXT,
    public_key BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    completed_at BIGINT,
    expired_at BIGINT,
    deleted_at BIGINT,
    task TEXT,
    size BIGINT,
    sha256 BYTEA,
    crc32c BIGINT,
    encrypted_key BYTEA,
    initial_vector BYTEA
);
CREATE TABLE scheduled_contents (
    application BYTEA NOT NULL,
    message BYTEA NOT NULL,
    content BYTEA NOT NULL
);
CREATE TABLE dropped_contents (
    application BYTEA NOT NULL,
    content BYTEA NOT NULL
);
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    holder BYTEA,
    beat BIGINT NOT NULL
);
CREATE TABLE webhooks (
    application BYTEA NOT NULL,
    id BYTEA NOT NULL,
    payload_version TEXT NOT NULL,
    target TEXT NOT NULL,
    topics TEXT NOT NULL,
    secret TEXT NOT NULL,
    config BYTEA,
    status TEXT NOT NULL,
    since BIGINT,
    reason TEXT,
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE TABLE webhook_readers (
    application BYTEA NOT NULL PRIMARY KEY,
    after_position BIGINT NOT NULL,
    within_position BIGINT NOT NULL
);
CREATE TABLE deliveries (
    application BYTEA NOT NULL,
    webhook BYTEA NOT NULL,
    number BIGINT NOT NULL,
    id BYTEA NOT NULL,
    lane BYTEA NOT NULL,
    event BYTEA NOT NULL,
    type TEXT NOT NULL,
    position BIGINT,
    body BYTEA NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    asked_at BIGINT NOT NULL,
    next_at BIGINT,
    finished_at BIGINT,
    status BIGINT,
    failure TEXT
, trace TEXT);
CREATE TABLE webhook_replays (
    application BYTEA NOT NULL,
    id BYTEA NOT NULL,
    webhook BYTEA NOT NULL,
    after_position BIGINT NOT NULL,
    within_position BIGINT NOT NULL,
    through_position BIGINT NOT NULL
);
CREATE TABLE former_secrets (
    application BYTEA NOT NULL,
    webhook BYTEA NOT NULL,
    secret TEXT NOT NULL,
    until BIGINT NOT NULL
);
CREATE TABLE dropped_webhooks (
    application BYTEA NOT NULL,
    webhook BYTEA NOT NULL
);
CREATE TABLE uploads (
    name TEXT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL,
    holder BYTEA NOT NULL,
    content TEXT NOT NULL,
    application TEXT NOT NULL,
    owner TEXT NOT NULL,
    is_open BIGINT NOT NULL,
    claimed BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    record BYTEA NOT NULL
, is_written BIGINT NOT NULL DEFAULT 0, wanted BIGINT NOT NULL DEFAULT 0);
CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    value BYTEA NOT NULL
);
CREATE TABLE webhook_stretches (
    application BYTEA NOT NULL,
    webhook BYTEA NOT NULL,
    after_position BIGINT NOT NULL,
    through_position BIGINT NOT NULL
);
CREATE TABLE deleted_messages (
    application BYTEA NOT NULL,
    id BYTEA NOT NULL,
    conversation BYTEA NOT NULL,
    position BIGINT NOT NULL,
    sender_user TEXT,
    event BIGINT NOT NULL
, sent BIGINT NOT NULL DEFAULT 0);
CREATE TABLE object_history (
    application BYTEA NOT NULL,
    object BYTEA NOT NULL,
    until BIGINT NOT NULL,
    state BYTEA NOT NULL
);
CREATE TABLE past_blocks (
    application BYTEA NOT NULL,
    owner TEXT NOT NULL,
    blocked TEXT NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT NOT NULL
);
CREATE UNIQUE INDEX events_by_position ON events (application, position);
CREATE UNIQUE INDEX tokens_by_id ON tokens (application, id);
CREATE UNIQUE INDEX tokens_by_digest ON tokens (digest);
CREATE UNIQUE INDEX identities_by_user ON identities (application, user_id);
CREATE UNIQUE INDEX conversations_by_id ON conversations (application, id);
CREATE UNIQUE INDEX conversations_by_distinct_key
ON conversations (application, distinct_key);
CREATE UNIQUE INDEX conversation_aliases_by_alias
ON conversation_aliases (application, alias);
CREATE UNIQUE INDEX participants_by_conversation
ON participants (application, conversation, user_id);
CREATE UNIQUE INDEX messages_by_id ON messages (application, id);
CREATE UNIQUE INDEX messages_by_position
ON messages (application, conversation, position);
CREATE UNIQUE INDEX parts_by_message ON parts (application, message, part_index);
CREATE INDEX parts_by_content ON parts (application, content)
WHERE content IS NOT NULL;
CREATE UNIQUE INDEX receipts_by_conversation
ON receipts (application, conversation, user_id);
CREATE UNIQUE INDEX contents_by_id ON contents (application, id);
CREATE INDEX contents_by_conversation ON contents (application, conversation);
CREATE INDEX contents_by_name ON contents (id);
CREATE UNIQUE INDEX replay_keys_by_key
ON replay_keys (application, kind, replay_key);
CREATE INDEX participants_by_creation
ON participants (application, user_id, conversation_created_at, conversation)
WHERE state = 'shown';
CREATE INDEX participants_by_last_message
ON participants (application, user_id, last_at, conversation)
WHERE state = 'shown';
CREATE UNIQUE INDEX hidden_messages_by_position
ON hidden_messages (application, conversation, position, user_id);
CREATE UNIQUE INDEX blocks_by_owner ON blocks (application, owner, blocked);
CREATE INDEX blocks_by_blocked ON blocks (application, blocked, owner);
CREATE UNIQUE INDEX following_by_follower
ON following (application, follower, followed);
CREATE INDEX following_by_followed ON following (application, followed, follower);
CREATE UNIQUE INDEX announcements_by_id ON announcements (application, id);
CREATE UNIQUE INDEX announcement_parts_by_announcement
ON announcement_parts (application, announcement, part_index);
CREATE UNIQUE INDEX announcement_recipients_by_announcement
ON announcement_recipients (application, announcement, user_id);
CREATE INDEX announcement_recipients_by_user
ON announcement_recipients (application, user_id, sent_at, announcement)
WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX notification_keys_by_key
ON notification_keys (application, replay_key);
CREATE INDEX notification_keys_by_time ON notification_keys (application, sent_at);
CREATE UNIQUE INDEX scheduled_messages_by_id ON scheduled_messages (application, id);
CREATE INDEX scheduled_messages_by_turn ON scheduled_messages (application, turn);
CREATE INDEX scheduled_messages_by_time
ON scheduled_messages (due_at, application, turn);
CREATE UNIQUE INDEX idempotency_keys_by_key
ON idempotency_keys (application, idempotency_key);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (application, kept_at);
CREATE INDEX export_schedules_by_time ON export_schedules (application, next_at)
WHERE next_at IS NOT NULL;
CREATE UNIQUE INDEX exports_by_id ON exports (application, id);
CREATE INDEX exports_by_task ON exports (application, id) WHERE task IS NOT NULL;
CREATE INDEX exports_by_completion ON exports (application, completed_at)
WHERE completed_at IS NOT NULL AND task IS NULL AND expired_at IS NULL;
CREATE INDEX exports_by_name ON exports (id);
CREATE INDEX participants_present ON participants (application, conversation)
WHERE left_after IS NULL;
CREATE INDEX participants_unread ON participants (application, user_id)
WHERE state = 'shown' AND unread_count > 0;
CREATE INDEX contents_unused ON contents (application, completed_at)
WHERE use_count = 0;
CREATE INDEX scheduled_contents_by_message ON scheduled_contents (application, message);
CREATE UNIQUE INDEX dropped_contents_by_content
ON dropped_contents (application, content);
CREATE INDEX conversation_aliases_by_conversation
ON conversation_aliases (application, conversation);
CREATE INDEX events_merged ON events (application, position)
WHERE kind = 'conversation.merged';
CREATE UNIQUE INDEX webhooks_by_id ON webhooks (application, id);
CREATE INDEX webhooks_unverified ON webhooks (application, id)
WHERE status = 'unverified';
CREATE INDEX webhooks_active ON webhooks (application, id) WHERE status = 'active';
CREATE UNIQUE INDEX deliveries_by_id ON deliveries (application, id);
CREATE UNIQUE INDEX deliveries_by_number ON deliveries (application, webhook, number);
CREATE INDEX deliveries_by_state ON deliveries (application, webhook, state, number);
CREATE UNIQUE INDEX deliveries_by_head ON deliveries (application, webhook, lane)
WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_by_lane ON deliveries (application, webhook, lane, number)
WHERE state = 'pending';
CREATE INDEX deliveries_by_time ON deliveries (application, webhook, next_at, number)
WHERE next_at IS NOT NULL;
CREATE UNIQUE INDEX webhook_replays_by_id ON webhook_replays (application, id);
CREATE UNIQUE INDEX former_secrets_by_webhook ON former_secrets (application, webhook);
CREATE UNIQUE INDEX dropped_webhooks_by_id ON dropped_webhooks (application, webhook);
CREATE INDEX uploads_by_content ON uploads (content);
CREATE INDEX uploads_by_owner ON uploads (application, owner, is_open, claimed);
CREATE INDEX uploads_by_due ON uploads (due_at, name);
CREATE UNIQUE INDEX webhook_stretches_by_place
ON webhook_stretches (application, webhook, through_position);
CREATE UNIQUE INDEX deleted_messages_by_id ON deleted_messages (application, id);
CREATE INDEX deleted_messages_by_position
ON deleted_messages (application, conversation, position);
CREATE INDEX deleted_messages_by_event ON deleted_messages (application, event);
CREATE INDEX conversations_by_creation ON conversations (application, created_at, id)
WHERE deleted_at IS NULL;
CREATE INDEX identities_by_creation ON identities (application, created_at, user_id);
CREATE UNIQUE INDEX object_history_by_object
ON object_history (application, object, until);
CREATE INDEX object_history_by_event ON object_history (application, until);
CREATE UNIQUE INDEX past_blocks_by_owner
ON past_blocks (application, owner, blocked, since);
CREATE INDEX past_blocks_by_blocked ON past_blocks (application, blocked, owner);
COMMIT;
