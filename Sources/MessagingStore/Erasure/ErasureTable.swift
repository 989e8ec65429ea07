import Messaging
import SQL

/// The tables whose rows can name a user of an application, in the order in which an erasure works on them.
///
/// Rows that events write come before what these events write to: the log is last. A test compares the columns here, and
/// those in ``columnsWithoutUsers``, with the schema.
enum ErasureTable: String, CaseIterable {
    case scheduledMessages = "scheduled_messages"
    case sessions
    case devices
    case blocks
    case participants
    case receipts
    case hiddenMessages = "hidden_messages"
    case wideStays = "wide_stays"
    case following
    case unfollowed
    case messages
    case deletedMessages = "deleted_messages"
    case announcements
    case announcementRecipients = "announcement_recipients"
    case contents
    case pastBlocks = "past_blocks"
    case identities
    case touched
    case objectHistory = "object_history"
    case idempotencyKeys = "idempotency_keys"
    case deliveries
    case events

    /// How the pages of a table are read.
    struct Layout {
        let table: StaticString
        /// The columns of a unique index after the application, separated by commas.
        let key: StaticString
        /// What comes before the first key.
        let start: [SQLValue]
        /// Further columns that are read.
        let columns: StaticString
        /// The columns that can name a user, in the key or not.
        let users: [String]
    }

    var layout: Layout {
        switch self {
        case .scheduledMessages:
            Layout(
                table: "scheduled_messages", key: "id", start: [.blob([])], columns: "payload",
                users: ["payload"])
        case .sessions:
            Layout(
                table: "sessions", key: "id", start: [.blob([])], columns: "user_id",
                users: ["user_id", "user_agent"])
        case .devices:
            Layout(
                table: "devices", key: "user_id, device", start: [.text(""), .text("")],
                columns: "kind",
                users: [
                    "user_id", "device", "kind", "token", "bundle_id", "sender_id",
                    "system_version",
                ])
        case .blocks:
            Layout(
                table: "blocks", key: "owner, blocked", start: [.text(""), .text("")],
                columns: "since", users: ["owner", "blocked"])
        case .participants:
            Layout(
                table: "participants", key: "conversation, user_id", start: [.blob([]), .text("")],
                columns: "left_after", users: ["user_id"])
        case .receipts:
            Layout(
                table: "receipts", key: "conversation, user_id", start: [.blob([]), .text("")],
                columns: "application", users: ["user_id"])
        case .hiddenMessages:
            Layout(
                table: "hidden_messages", key: "conversation, position, user_id",
                start: [.blob([]), .integer(0), .text("")], columns: "application",
                users: ["user_id"])
        case .wideStays:
            Layout(
                table: "wide_stays", key: "conversation, user_id, since",
                start: [.blob([]), .text(""), .integer(0)], columns: "application",
                users: ["user_id"])
        case .following:
            Layout(
                table: "following", key: "follower, followed", start: [.text(""), .text("")],
                columns: "event", users: ["follower", "followed"])
        case .unfollowed:
            Layout(
                table: "unfollowed", key: "follower, followed", start: [.text(""), .text("")],
                columns: "event", users: ["follower", "followed"])
        case .messages:
            Layout(
                table: "messages", key: "conversation, position", start: [.blob([]), .integer(0)],
                columns: "id, sender_user", users: ["sender_user"])
        case .deletedMessages:
            Layout(
                table: "deleted_messages", key: "id", start: [.blob([])], columns: "sender_user",
                users: ["sender_user"])
        case .announcements:
            Layout(
                table: "announcements", key: "id", start: [.blob([])], columns: "sender_user",
                users: ["sender_user"])
        case .announcementRecipients:
            Layout(
                table: "announcement_recipients", key: "announcement, user_id",
                start: [.blob([]), .text("")], columns: "place", users: ["user_id"])
        case .contents:
            Layout(
                table: "contents", key: "id", start: [.blob([])], columns: "uploader, use_count",
                users: ["uploader", "file_name"])
        case .pastBlocks:
            Layout(
                table: "past_blocks", key: "owner, blocked, since",
                start: [.text(""), .text(""), .integer(.min)], columns: "until",
                users: ["owner", "blocked"])
        case .identities:
            Layout(
                table: "identities", key: "user_id", start: [.text("")], columns: "status",
                users: [
                    "user_id", "display_name", "avatar_url", "first_name", "last_name",
                    "phone_number", "email_address", "metadata", "public_key",
                ])
        case .touched:
            Layout(
                table: "touched", key: "stream, kind, id",
                start: [.blob([]), .integer(0), .blob([])], columns: "position",
                users: ["stream", "id"])
        case .objectHistory:
            Layout(
                table: "object_history", key: "object, until", start: [.blob([]), .integer(0)],
                columns: "state", users: ["object", "state"])
        case .idempotencyKeys:
            Layout(
                table: "idempotency_keys", key: "user_id, idempotency_key",
                start: [.text(""), .text("")], columns: "fields, body",
                users: ["user_id", "idempotency_key", "fields", "body"])
        case .deliveries:
            Layout(
                table: "deliveries", key: "webhook, number", start: [.blob([]), .integer(0)],
                columns: "body", users: ["body", "log", "failure"])
        case .events:
            Layout(
                table: "events", key: "position", start: [.integer(0)],
                columns: "kind, payload, actor_user", users: ["payload", "actor_user"])
        }
    }

    /// The columns of texts and bytes that cannot name a user of an application, by table; those of the tables above
    /// without the columns that can. The name `application` is left out, and so are columns of ids, whose names are `id`,
    /// `conversation`, `message`, `content`, `webhook`, `session` and the like.
    static let columnsWithoutUsers: [String: [String]] = [
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
            "id", "user_id", "user_digest", "state", "step", "progress", "counts", "digest",
            "error",
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

extension ErasureTable {
    /// A row that was read: the values of its key, and those of its further columns.
    struct Entry: Sendable {
        let key: [SQLValue]
        let values: [SQLValue]
    }

    /// The rows after a key, in the order of the keys.
    func page(after key: [SQLValue]?, limit: Int, in application: Application.ID) -> SQL {
        let layout = layout
        return """
            SELECT \(raw: layout.key), \(raw: layout.columns) FROM \(raw: layout.table)
            WHERE application = \(application)
                AND (\(raw: layout.key)) > (\(values: key ?? layout.start))
            ORDER BY \(raw: layout.key) LIMIT \(limit)
            """
    }

    /// The maximum number of rows of a page. Those with long values are fewer.
    var pageSize: Int {
        switch self {
        case .events, .objectHistory, .deliveries, .idempotencyKeys: 64
        default: 1024
        }
    }

    /// Whether a row names the user.
    func names(_ payloads: ErasedPayloads, _ row: Entry) throws -> Bool {
        let user = payloads.user
        switch self {
        case .sessions, .deletedMessages, .announcements, .contents:
            return row.values[0].isName(of: user)
        case .messages: return row.values[1].isName(of: user)
        case .devices, .identities: return row.key[0].isName(of: user)
        case .blocks, .following, .unfollowed, .pastBlocks:
            return row.key[0].isName(of: user) || row.key[1].isName(of: user)
        case .participants, .receipts, .wideStays, .announcementRecipients:
            return row.key[1].isName(of: user)
        case .hiddenMessages: return row.key[2].isName(of: user)
        case .touched: return row.isTouched(by: user)
        case .scheduledMessages: return try payloads.scheduled(row).namesUser
        case .objectHistory:
            return try payloads.state(of: row.key[0].bytes, row.values[0].bytes).namesUser
        case .idempotencyKeys:
            return row.key[0].isName(of: user)
                || payloads.bodies.namesInText(row.values[0].bytes, user)
                || payloads.names(row.values[1].bytes)
        case .deliveries: return payloads.names(row.values[0].bytes)
        case .events:
            return try row.values[2].isName(of: user)
                || payloads.event(type: row.values[0].string, row.values[1].bytes).namesUser
        }
    }
}

extension ErasureTable.Entry {
    /// Whether it is of the stream of a user, or of an object that is the user.
    fileprivate func isTouched(by user: UserID) -> Bool {
        let name = SQLValue.blob(Array(user.text.utf8))
        guard case .integer(let number) = key[1], let kind = TouchedKind(rawValue: number) else {
            return false
        }
        switch kind {
        case .receipts: return key[2] == name
        case .unfollowed: return key[0] == name || key[2] == name
        case .view, .viewWindow, .viewedMessage: return key[0] == name
        case .conversation, .counts, .window, .message, .alias: return false
        }
    }
}

extension ErasedPayloads {
    /// The scheduled message of a row.
    func scheduled(
        _ row: ErasureTable.Entry
    ) throws -> (message: ScheduledMessage, namesUser: Bool) {
        let found = try reading(row.values[0].bytes) { reader in
            try ScheduledMessage(from: &reader)
        }
        return (
            found.value, found.namesUser || found.value.draft.notification.map(names) ?? false
        )
    }
}

extension SQLValue {
    /// Whether it is the id of a user, byte by byte (ruling 7).
    fileprivate func isName(of user: UserID) -> Bool {
        if case .text(let text) = self { UserID(stored: text) == user } else { false }
    }

    /// The bytes; empty for another value.
    var bytes: [UInt8] {
        if case .blob(let bytes) = self { bytes } else { [] }
    }

    /// The text; empty for another value.
    var string: String {
        if case .text(let text) = self { text } else { "" }
    }

    /// The number; 0 for another value.
    var number: Int64 {
        if case .integer(let number) = self { number } else { 0 }
    }
}

extension SQL.StringInterpolation {
    /// Binds values, separated by commas.
    mutating func appendInterpolation(values: [SQLValue]) {
        for (index, value) in values.enumerated() {
            if index > 0 { appendLiteral(", ") }
            append(value)
        }
    }
}
