internal import SystemSupport

/// Examines how SQLite, which keeps no statistics here, finds the rows of the store's statements.
///
/// A statement must not read all rows of an application in a table, because their number grows. A statement of a test that
/// does begins with a comment, and is not examined.
package final class StatementPlans: Sendable {
    /// The plans of the statements that the tests of this process prepare.
    package static let shared = StatementPlans()

    private let examined = Locked<Set<String>>([])

    package init() {}

    /// Tables that have few rows in an application, however many users it has.
    private static let smallTables: Set<String> = [
        "applications", "console_jobs", "export_schedules", "exports", "log_positions",
        "pragma_table_info", "processes",
        "provider_keys", "providers", "schema_migrations", "sqlite_master", "tokens",
        "webhook_ranges", "webhook_readers", "webhook_replays", "webhooks",
        // Uploads that have not ended, and contents to be deleted.
        "dropped_contents", "uploads",
    ]

    /// Indexes that contain only rows with which something is still to be done.
    private static let shortIndexes = ["contents_unused", "conversations_unsorted"]

    /// Beginnings of statements that read one row of the index, although their plans do not say so.
    private static let readsOneRow = [
        // The largest value of an index.
        "INSERT INTO scheduled_messages",
        // Whether there is any row.
        "SELECT 1 FROM",
    ]

    /// Examines a statement, unless it was examined before.
    ///
    /// - Parameters:
    ///   - plan: Finds the plan: a line for each table, such as `SEARCH m USING INDEX i (a=? AND b>?)`.
    ///   - report: Receives the description of a statement that reads all rows of an application in a table.
    package func examine(
        _ statement: String, _ plan: () throws -> [String], report: (String) -> Void
    ) {
        let isNew = examined.withLock { examined in examined.insert(statement).inserted }
        guard isNew, Self.isExamined(statement) else { return }
        do {
            let flaws = try plan().filter { line in Self.readsAll(line, in: statement) }
            guard !flaws.isEmpty else { return }
            report("reads all rows of an application, or more: \(flaws)\n\(statement)")
        } catch {
            report("has no plan: \(error)\n\(statement)")
        }
    }

    private static func isExamined(_ statement: String) -> Bool {
        guard let verb = statement.split(separator: " ").first,
            ["SELECT", "UPDATE", "DELETE", "INSERT", "WITH"].contains(verb)
        else { return false }
        return !readsOneRow.contains { beginning in
            statement.hasPrefix(beginning)
                && (!beginning.hasPrefix("SELECT") || statement.hasSuffix(" LIMIT 1"))
        }
    }

    private static func readsAll(_ line: String, in statement: String) -> Bool {
        let words = line.split(separator: " ")
        guard words.count > 1, ["SCAN", "SEARCH"].contains(words[0]) else { return false }
        // The second is the whole key of a table with one row for each application.
        let isBounded =
            words[0] == "SEARCH"
            && (!line.contains(" (application=?)") || line.contains("INDEX sqlite_autoindex_"))
            || shortIndexes.contains { index in line.contains("INDEX \(index)") }
        // Nothing is in an empty list, so that no row is read.
        let isEmpty = words[0] == "SCAN" && statement.contains(" IN ()")
        guard !isBounded, !isEmpty, let table = table(String(words[1]), in: statement) else {
            return false
        }
        return !smallTables.contains(table)
    }

    /// The table that a name in a plan stands for; `nil` for rows that the statement itself makes.
    private static func table(_ name: String, in statement: String) -> String? {
        let words = statement.replacing(")", with: " ) ")
            .split { character in " \n,(".contains(character) }.map(String.init)
        guard !zip(words, words.dropFirst()).contains(where: { $0 == ("RECURSIVE", name) }) else {
            return nil
        }
        for (index, word) in words.enumerated() where word == name && index > 0 {
            let before = words[index - 1]
            if ["FROM", "INTO", "JOIN", "UPDATE"].contains(before) { return name }
            let isNamed = index > 1 && ["FROM", "JOIN"].contains(words[index - 2])
            if isNamed, before.first?.isLowercase == true { return before }
        }
        return nil
    }
}
