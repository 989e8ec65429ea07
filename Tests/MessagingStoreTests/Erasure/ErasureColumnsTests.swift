import SQL
import Testing

@testable import MessagingStore

/// The columns of the schema that can name a user.
@Suite struct `Tables of erasures` {
    @Test(.enabled(if: onSQLite)) func `knows every column that can name a user`() async throws {
        let sample = try await SampleApplication()
        let columns = try await sample.database.read { transaction in
            try transaction.rows(
                """
                SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
                WHERE m.type = 'table' AND m.name <> 'schema_migrations'
                    AND c.type <> 'BIGINT' AND c.name <> 'application'
                """
            ) { row in "\(try row.text(0)).\(try row.text(1))" }
        }
        var known = Set(
            Self.columnsWithoutUsers.flatMap { table, columns in
                columns.map { column in "\(table).\(column)" }
            })
        #expect(Set(Self.columnsWithUsers.keys) == Set(ErasureTable.allCases.map(\.rawValue)))
        for (table, columns) in Self.columnsWithUsers {
            for column in columns {
                let name = "\(table).\(column)"
                #expect(known.insert(name).inserted, "\(name) is listed twice")
            }
        }
        // A new column that can name a user needs a change of `ErasureTable`.
        #expect(Set(columns).subtracting(known) == [])
        #expect(known.subtracting(columns) == [])
    }

    /// The columns of the tables of `ErasureTable` that can name a user.
    private static let columnsWithUsers: [String: [String]] = [
        "scheduled_messages": ["payload"],
        "sessions": ["user_id", "user_agent"],
        "devices": [
            "user_id", "device", "kind", "token", "bundle_id", "sender_id", "system_version",
        ],
        "blocks": ["owner", "blocked"],
        "participants": ["user_id"],
        "receipts": ["user_id"],
        "hidden_messages": ["user_id"],
        "wide_stays": ["user_id"],
        "following": ["follower", "followed"],
        "unfollowed": ["follower", "followed"],
        "messages": ["sender_user"],
        "deleted_messages": ["sender_user"],
        "announcements": ["sender_user"],
        "announcement_recipients": ["user_id"],
        "contents": ["uploader", "file_name"],
        "past_blocks": ["owner", "blocked"],
        "identities": [
            "user_id", "display_name", "avatar_url", "first_name", "last_name", "phone_number",
            "email_address", "metadata", "public_key",
        ],
        "touched": ["stream", "id"],
        "object_history": ["object", "state"],
        "idempotency_keys": ["user_id", "idempotency_key", "fields", "body"],
        "deliveries": ["body", "log", "failure"],
        "events": ["payload", "actor_user"],
    ]

    /// The columns of texts and bytes that cannot name a user of an application, by table. The name
    /// `application` is omitted, and so are columns of ids, whose names are `id`, `conversation`, `message`, `content`, `webhook`, `session` and the like.
    private static let columnsWithoutUsers: [String: [String]] = [
        "log_positions": [], "events": ["kind", "actor_token", "trace", "actor_name"],
        "object_history": [], "touched": [],
        "deleted_messages": ["id", "conversation"], "applications": ["name"],
        "tokens": ["id", "scope", "digest", "name"], "providers": ["id", "name"],
        "provider_keys": ["id", "provider", "algorithm", "der"], "sessions": ["id", "digest"],
        "devices": ["session"], "used_nonces": ["nonce"], "identities": ["kind"], "blocks": [],
        "past_blocks": [], "following": [], "wide_stays": ["conversation"], "unfollowed": [],
        // Metadata of conversations are texts that participants have written for each other.
        "conversations": ["id", "distinct_key", "metadata"],
        "conversation_aliases": ["alias", "conversation"],
        "participants": ["conversation", "past", "frozen_metadata", "state", "last_message"],
        "messages": ["id", "conversation", "sender_name"],
        // Parts of other users are what they have written.
        "parts": ["message", "id", "mime_type", "body", "content"],
        "hidden_messages": ["conversation"], "receipts": ["conversation", "delivered", "read"],
        "contents": ["id", "conversation", "mime_type", "sha256", "md5", "origin", "sha512"],
        "shared_contents": ["content", "conversation"], "dropped_contents": ["content"],
        "replay_keys": ["kind", "replay_key", "object"], "announcements": ["id", "sender_name"],
        "announcement_parts": ["announcement", "id", "mime_type", "body"],
        "announcement_recipients": ["announcement", "status"],
        "notification_keys": ["replay_key"], "scheduled_messages": ["id", "trace"],
        "scheduled_contents": ["conversation", "message", "content"],
        "webhooks": [
            "id", "payload_version", "target", "topics", "secret", "config", "status", "reason",
        ],
        "webhook_readers": [],
        "deliveries": ["webhook", "id", "lane", "event", "type", "state", "trace"],
        "webhook_replays": ["id", "webhook"], "webhook_ranges": ["webhook"],
        "former_secrets": ["webhook", "secret"], "dropped_webhooks": ["webhook"],
        "export_keys": ["pem", "der"],
        "export_schedules": ["repetition", "topics", "last_export"],
        // Archives are encrypted for the application, and expire.
        "exports": [
            "id", "topics", "public_key", "task", "sha256", "encrypted_key", "initial_vector",
        ],
        "idempotency_keys": ["digest"],
        // The last step of an erasure deletes the user id from its row.
        "erasures": [
            "id", "user_id", "user_digest", "state", "current_table", "last_key", "counts",
            "digest", "error",
        ],
        "erased_contents": ["erasure", "content"], "leases": ["name", "holder"],
        // `Uploads` deletes the records of the user, in the database or in files, and counts what is left.
        "uploads": ["name", "holder", "content", "owner", "record"],
        "secrets": ["name", "value"], "operators": ["name", "role", "password"],
        "console_sessions": ["digest", "id", "operator_name", "token", "address", "agent"],
        "console_links": ["digest", "operator_name"], "audit_log": [],
        "audit_events": ["type", "actor", "address", "request", "subject"],
        "processes": ["id", "version", "stats"],
        "console_jobs": ["id", "kind", "state", "process", "actor", "error", "result"],
    ]
}
