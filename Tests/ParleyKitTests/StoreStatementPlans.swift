import TestSupport
import Testing

extension StatementPlans {
    /// Examines the statements on the stores of clients that the tests of this process prepare.
    static let clientObserver = StatementPlans(.client).observer { flaw in
        Issue.record(Comment(rawValue: flaw))
    }
}

extension StatementPlans.Schema {
    /// The schema of a client's store. Neither a table may be read as a whole nor the messages or commands of a conversation.
    static let client = Self(
        smallTables: ["schema_migrations", "settings", "sqlite_master"],
        shortReads: [
            // Only rows with which something is still to be done.
            "INDEX messages_moved", "INDEX messages_read_here", "INDEX messages_to_deliver",
            "INDEX messages_unread", "INDEX messages_unsent", "INDEX outbox_answered",
            "INDEX outbox_failed", "INDEX parts_by_status", "INDEX parts_wanted",
            // Hidden conversations are deleted soon.
            "SEARCH h USING COVERING INDEX conversations_by_activity (is_hidden=?)",
        ],
        exceptions: [
            // The migration to the second schema.
            .init("UPDATE message_counts SET unsent = ("),
            // A merge moves all messages of a conversation.
            .init("UPDATE messages SET snapshot = -1"),
            .init("UPDATE messages SET conversation ="),
            .init("UPDATE outbox SET conversation ="),
            // What waits for a conversation that is deleted.
            .init("DELETE FROM outbox WHERE conversation ="),
            // Not read beyond the first command of a lane that can be sent.
            .init(
                "SELECT number, lane, kind, conversation, message",
                end: "AND answered_position IS NULL ORDER BY number"),
            // In the lane of the user: push tokens and who is followed.
            .init("DELETE FROM outbox WHERE lane ="),
            // The end of a snapshot removes what it has not named; this happens if the server has lost the cursor.
            .init("UPDATE conversations SET held = ''", end: "''"),
            .init("SELECT id FROM conversations WHERE base IS NOT NULL AND snapshot <"),
            .init("DELETE FROM receipts WHERE snapshot <"),
            .init("SELECT user FROM identities WHERE is_followed = 1 AND snapshot <"),
            .init("SELECT id FROM messages\nWHERE snapshot <"),
            // All files on this device: when a store is opened they are compared with their rows (K49), and for the capacity
            // their sizes are added (K47).
            .init("SELECT p.message, p.name", end: "WHERE p.file IS NOT NULL LIMIT $1"),
            .init("SELECT p.message, p.name", end: "ORDER BY p.accessed_at, m.place LIMIT $2"),
            .init("SELECT coalesce(sum(p.size), 0) AS bytes"),
            // The numbers of all objects, for a developer (K72).
            .init("SELECT (SELECT count(*) FROM conversations) AS conversations"),
            .init("SELECT number, lane, kind, created_at, answered_position", end: "LIMIT 200"),
        ],
        isBroad: { line in
            [
                "conversations_by_activity (is_hidden=?)", "messages_by_place (conversation=?)",
                "outbox_by_conversation (conversation=?)", "outbox_waiting (lane=?)",
            ].contains { search in line.contains(search) }
        },
        flaws: { statement, plan, whole in
            // What several indexes find together is few, and nothing is in an empty list.
            let isSorted =
                plan.contains("USE TEMP B-TREE FOR ORDER BY") && !plan.contains("MULTI-INDEX OR")
                && !statement.contains(" IN ()")
            guard let query = ApplicationQuery(statement) else {
                // The first rows in the order of an index are few.
                let readsFirst = statement.hasSuffix(" LIMIT 1") && !isSorted
                return whole.filter { line in line.hasPrefix("SCAN") || !readsFirst }
            }
            return query.flaws(whole, isSorted: isSorted)
        })
}

/// The statement of a query of an application.
///
/// Its filter may be one that no index finds: a comparison of a column without one, or an `||` or `!`. Then all rows are read,
/// and other orders than the default ones sort them. These columns have no index, because each index costs time and space in
/// every store:
/// - of conversations, all but the id, the participants and, in the default order, the time of the last message;
/// - of messages, all but the id, the conversation, the position in one conversation, `isSent == false`, `isUnread == true`
///   and states of parts other than complete;
/// - of parts, all but those of their messages and states other than complete;
/// - of identities, all but the id: a device has thousands at most, and programs show their names sorted in their own way.
struct ApplicationQuery {
    private let conditions: [Substring]
    private let order: Substring

    /// What statements select first, and from which tables.
    private static let sources = [
        "c.id AS id": "conversations c", "m.id AS id, ": "messages m",
        "p.message AS id, ": "parts p JOIN messages m ON m.id = p.message",
        "i.user AS id": "identities i",
    ]

    /// - Returns: `nil` for another statement.
    init?(_ statement: String) {
        let text = statement.split { character in " \n".contains(character) }.joined(separator: " ")
        let source = Self.sources.first { columns, source in
            let number = "SELECT count(*) AS number FROM "
            let beginnings = [
                "SELECT \(columns)", "\(number)\(source) WHERE ",
                "\(number)(SELECT 1 FROM \(source) WHERE ",
            ]
            return beginnings.contains(where: text.hasPrefix)
        }
        guard let source = source?.value,
            let start = text.firstRange(of: " FROM \(source) WHERE ")?.upperBound
        else { return nil }
        let end = text.ranges(of: " ORDER BY ").last ?? text.ranges(of: " LIMIT ").last
        conditions = Self.conjunction(text[start..<(end?.lowerBound ?? text.endIndex)])
        order = end.map { range in text[range.upperBound...] } ?? ""
    }

    /// The conditions that a row must fulfil all.
    private static func conjunction(_ condition: Substring) -> [Substring] {
        var pieces: [Substring] = []
        var (depth, start, isAlternative) = (0, condition.startIndex, false)
        for index in condition.indices {
            switch condition[index] {
            case "(": depth += 1
            case ")": depth -= 1
            case " " where depth == 0 && condition[index...].hasPrefix(" AND "):
                pieces.append(condition[start..<index])
                start = condition.index(index, offsetBy: 5)
            case " " where depth == 0 && condition[index...].hasPrefix(" OR "):
                isAlternative = true
            default: break
            }
        }
        pieces.append(condition[start...])
        if isAlternative { return [condition] }
        guard pieces.count == 1 else { return pieces.flatMap(conjunction) }
        return encloses(condition) ? conjunction(condition.dropFirst().dropLast()) : [condition]
    }

    /// Whether the parenthesis at the beginning of a text is closed at its end.
    private static func encloses(_ text: Substring) -> Bool {
        guard text.first == "(" else { return false }
        var depth = 0
        for (index, character) in zip(text.indices, text) {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if depth == 0 { return text.index(after: index) == text.endIndex }
        }
        return false
    }

    /// Conditions that an index finds.
    private static let indexed = [
        "c.id = ", "c.id IN ", "c.participant_set = ", "m.id = ", "m.id IN ", "m.is_sent = 0",
        "m.is_unread = 1", "p.message = ", "p.message IN ", "p.status < 4", "i.user = ",
        "i.user IN ",
    ]

    /// - Parameters:
    ///   - whole: The lines of the plan that read all rows.
    ///   - isSorted: Whether rows are sorted.
    func flaws(_ whole: [String], isSorted: Bool) -> [String] {
        func isThere(_ beginnings: [String]) -> Bool {
            conditions.contains { condition in beginnings.contains(where: condition.hasPrefix) }
        }
        guard !isThere(Self.indexed) else { return whole }
        let isOfConversation = isThere(["likelihood(m.conversation = "])
        let flaws = isOfConversation ? whole.filter { line in line.hasPrefix("SCAN") } : []
        let isInOrder =
            order.hasPrefix("c.active_at") || isOfConversation && order.hasPrefix("m.place")
        return isInOrder && isSorted ? flaws + ["the rows are sorted: \(order)"] : flaws
    }
}
