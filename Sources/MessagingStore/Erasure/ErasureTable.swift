import Messaging
import SQL

/// The tables whose rows can name a user of an application, in the order in which an erasure works on them.
///
/// A table comes before the tables that its events write to; `events` is last. A test knows the columns that can name a
/// user, and compares them with the schema.
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
        /// A key below all keys.
        let start: [SQLValue]
        /// Further columns that are read.
        let columns: StaticString
    }

    var layout: Layout {
        switch self {
        case .scheduledMessages:
            Layout(
                table: "scheduled_messages", key: "id", start: [.blob([])], columns: "payload")
        case .sessions:
            Layout(
                table: "sessions", key: "id", start: [.blob([])], columns: "user_id")
        case .devices:
            Layout(
                table: "devices", key: "user_id, device", start: [.text(""), .text("")],
                columns: "kind")
        case .blocks:
            Layout(
                table: "blocks", key: "owner, blocked", start: [.text(""), .text("")],
                columns: "since")
        case .participants:
            Layout(
                table: "participants", key: "conversation, user_id", start: [.blob([]), .text("")],
                columns: "left_after")
        case .receipts:
            Layout(
                table: "receipts", key: "conversation, user_id", start: [.blob([]), .text("")],
                columns: "application")
        case .hiddenMessages:
            Layout(
                table: "hidden_messages", key: "conversation, position, user_id",
                start: [.blob([]), .integer(0), .text("")], columns: "application")
        case .wideStays:
            Layout(
                table: "wide_stays", key: "conversation, user_id, since",
                start: [.blob([]), .text(""), .integer(0)], columns: "application")
        case .following:
            Layout(
                table: "following", key: "follower, followed", start: [.text(""), .text("")],
                columns: "event")
        case .unfollowed:
            Layout(
                table: "unfollowed", key: "follower, followed", start: [.text(""), .text("")],
                columns: "event")
        case .messages:
            Layout(
                table: "messages", key: "conversation, position", start: [.blob([]), .integer(0)],
                columns: "id, sender_user")
        case .deletedMessages:
            Layout(
                table: "deleted_messages", key: "id", start: [.blob([])], columns: "sender_user")
        case .announcements:
            Layout(
                table: "announcements", key: "id", start: [.blob([])], columns: "sender_user")
        case .announcementRecipients:
            Layout(
                table: "announcement_recipients", key: "announcement, user_id",
                start: [.blob([]), .text("")], columns: "place")
        case .contents:
            Layout(
                table: "contents", key: "id", start: [.blob([])], columns: "uploader, use_count")
        case .pastBlocks:
            Layout(
                table: "past_blocks", key: "owner, blocked, since",
                start: [.text(""), .text(""), .integer(.min)], columns: "until")
        case .identities:
            Layout(
                table: "identities", key: "user_id", start: [.text("")], columns: "status")
        case .touched:
            Layout(
                table: "touched", key: "stream, kind, id",
                start: [.blob([]), .integer(0), .blob([])], columns: "position")
        case .objectHistory:
            Layout(
                table: "object_history", key: "object, until", start: [.blob([]), .integer(0)],
                columns: "state")
        case .idempotencyKeys:
            Layout(
                table: "idempotency_keys", key: "user_id, idempotency_key",
                start: [.text(""), .text("")], columns: "fields, body")
        case .deliveries:
            Layout(
                table: "deliveries", key: "webhook, number", start: [.blob([]), .integer(0)],
                columns: "body, log, failure")
        case .events:
            Layout(
                table: "events", key: "position", start: [.integer(0)],
                columns: "kind, payload, actor_user")
        }
    }
}

extension ErasureTable {
    /// A row that was read: the values of its key, and those of its further columns.
    struct Entry: Sendable {
        let key: [SQLValue]
        let values: [SQLValue]
        /// The event of a row of `events`, with the name of the erased user.
        var event: (value: Event, namesUser: Bool)?
    }

    /// The rows after a key in the order of the keys, or those before a key in descending order.
    func page(
        after key: [SQLValue]?, limit: Int, isDescending: Bool, in application: Application.ID
    ) -> SQL {
        let layout = layout
        let (isNext, order): (StaticString, StaticString) =
            isDescending ? ("<", " DESC") : (">", "")
        let start = isDescending ? [SQLValue.integer(.max)] : layout.start
        return """
            SELECT \(raw: layout.key), \(raw: layout.columns) FROM \(raw: layout.table)
            WHERE application = \(application)
                AND (\(raw: layout.key)) \(raw: isNext) (\(values: key ?? start))
            ORDER BY \(raw: layout.key)\(raw: order) LIMIT \(limit)
            """
    }

    /// The maximum number of rows of a page; it has fewer if they are large.
    var pageSize: Int {
        switch self {
        case .events, .objectHistory, .deliveries, .idempotencyKeys, .scheduledMessages: 64
        default: 1024
        }
    }

    /// Whether a row names the user, or has what belongs to the user.
    func namesUser(_ payloads: ErasedPayloads, _ row: Entry) throws -> Bool {
        let user = payloads.user
        switch self {
        case .sessions, .deletedMessages, .announcements, .contents:
            return row.values[0].isName(of: user)
        case .messages:
            return row.values[1].isName(of: user)
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
                || payloads.bodies.namesUserInText(row.values[0].bytes, user)
                || payloads.namesUser(row.values[1].bytes)
        case .deliveries:
            return payloads.namesUser(row.values[0].bytes)
                || payloads.bodies.namesUserInText(row.values[1].bytes, user)
                || payloads.bodies.namesUserInText(Array(row.values[2].string.utf8), user)
        case .events:
            guard let event = row.event else { return false }
            return row.values[2].isName(of: user) || event.namesUser
                || payloads.isOwn(event.value)
        }
    }
}

extension ErasureTable.Entry {
    /// Whether the row is in the stream of the user, or its object is the user.
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
    /// A row of `events` with its decoded event.
    func decodingEvent(of row: ErasureTable.Entry) throws -> ErasureTable.Entry {
        var row = row
        row.event = try event(type: row.values[0].string, row.values[1].bytes)
        return row
    }

    /// The scheduled message of a row.
    func scheduled(
        _ row: ErasureTable.Entry
    ) throws -> (message: ScheduledMessage, namesUser: Bool) {
        let found = try decode(row.values[0].bytes) { reader in
            try ScheduledMessage(from: &reader)
        }
        return (
            found.value, found.namesUser || found.value.draft.notification.map(namesUser) ?? false
        )
    }
}

extension SQLValue {
    /// Whether it is the id of a user, byte by byte (ruling 7).
    func isName(of user: UserID) -> Bool {
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
