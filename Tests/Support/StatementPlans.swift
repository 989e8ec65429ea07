internal import SystemSupport

/// Examines how SQLite, which keeps no statistics here, finds the rows of the statements of a schema.
///
/// A statement must not read all rows of a table that grows. A statement of a test that does begins with a comment, and is
/// not examined.
package final class StatementPlans: Sendable {
    private let examined = Locked<Set<String>>([])
    private let schema: Schema

    package init(_ schema: Schema) { self.schema = schema }

    /// What is known of the tables of a schema.
    package struct Schema: Sendable {
        /// Tables that have few rows.
        package var smallTables: Set<String>
        /// What is in lines of plans that read few rows.
        package var shortReads: [String]
        /// Whether a line of a plan searches, but reads all rows of a table, or most.
        package var isBroad: @Sendable (_ line: String) -> Bool
        /// Statements that read few rows, although their plans do not say so, or have to read all.
        package var exceptions: [Exception]
        /// Chooses the flaws of a plan, given its lines that read all rows.
        package var flaws: Flaws

        /// See ``flaws``.
        package typealias Flaws =
            @Sendable (_ statement: String, _ plan: [String], _ whole: [String]) -> [String]

        package init(
            smallTables: Set<String>, shortReads: [String], exceptions: [Exception],
            isBroad: @escaping @Sendable (_ line: String) -> Bool,
            flaws: @escaping Flaws = { _, _, whole in whole }
        ) {
            self.smallTables = smallTables
            self.shortReads = shortReads
            self.exceptions = exceptions
            self.isBroad = isBroad
            self.flaws = flaws
        }
    }

    /// The statements with a beginning and an end.
    package struct Exception: Sendable {
        private let beginning: String
        private let end: String

        package init(_ beginning: String, end: String = "") {
            self.beginning = beginning
            self.end = end
        }

        fileprivate func contains(_ statement: String) -> Bool {
            statement.hasPrefix(beginning) && statement.hasSuffix(end)
        }
    }

    /// Receives the statements that a database prepares, and reports flaws.
    package func observer(
        reportingTo report: @escaping @Sendable (_ flaw: String) -> Void
    ) -> @Sendable (_ statement: String, _ plan: () throws -> [String]) -> Void {
        { [self] statement, plan in examine(statement, plan, report: report) }
    }

    /// Examines a statement, unless it was examined before.
    ///
    /// - Parameters:
    ///   - plan: Finds the plan: a line for each table, such as `SEARCH m USING INDEX i (a=? AND b>?)`.
    ///   - report: Receives the description of a statement that reads all rows of a table.
    package func examine(
        _ statement: String, _ plan: () throws -> [String], report: (String) -> Void
    ) {
        let isNew = examined.withLock { examined in examined.insert(statement).inserted }
        guard isNew, isExamined(statement) else { return }
        do {
            let plan = try plan()
            let flaws = schema.flaws(
                statement, plan, plan.filter { line in readsAll(line, in: statement) })
            guard !flaws.isEmpty else { return }
            report("reads all rows of a table, or of an application in it: \(flaws)\n\(statement)")
        } catch {
            report("has no plan: \(error)\n\(statement)")
        }
    }

    private func isExamined(_ statement: String) -> Bool {
        guard let verb = statement.split(separator: " ").first,
            ["SELECT", "UPDATE", "DELETE", "INSERT", "WITH"].contains(verb)
        else { return false }
        return !schema.exceptions.contains { exception in exception.contains(statement) }
    }

    private func readsAll(_ line: String, in statement: String) -> Bool {
        let words = line.split(separator: " ")
        guard words.count > 1, ["SCAN", "SEARCH"].contains(words[0]) else { return false }
        let isBounded =
            words[0] == "SEARCH" && !schema.isBroad(line)
            || schema.shortReads.contains { read in line.contains(read) }
        // Nothing is in an empty list, so that no row is read.
        let isEmpty = words[0] == "SCAN" && statement.contains(" IN ()")
        guard !isBounded, !isEmpty, let table = Self.table(String(words[1]), in: statement) else {
            return false
        }
        return !schema.smallTables.contains(table)
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

extension StatementPlans {
    /// The plans of the server's statements that the tests of this process prepare.
    package static let server = StatementPlans(.server)
}

extension StatementPlans.Schema {
    /// The schema of the server. No table of an application may be read as a whole.
    package static let server = Self(
        // Few in an application, however many users it has.
        smallTables: [
            "applications", "console_jobs", "export_schedules", "exports", "log_positions",
            "pragma_table_info", "processes",
            "provider_keys", "providers", "schema_migrations", "sqlite_master", "tokens",
            "webhook_ranges", "webhook_readers", "webhook_replays", "webhooks",
            // Uploads that have not ended, and contents to be deleted.
            "dropped_contents", "uploads",
        ],
        // Only rows with which something is still to be done.
        shortReads: [
            "INDEX contents_unused", "INDEX conversations_unsorted", "INDEX erasures_running",
        ],
        exceptions: [
            // The largest value of an index.
            StatementPlans.Exception("INSERT INTO scheduled_messages"),
            StatementPlans.Exception("SELECT COALESCE(MAX(number), 0) + 1 FROM erasures"),
            // Whether there is any row.
            StatementPlans.Exception("SELECT 1 FROM", end: " LIMIT 1"),
        ],
        // The second is the whole key of a table with one row for each application.
        isBroad: { line in
            line.contains(" (application=?)") && !line.contains("INDEX sqlite_autoindex_")
        })
}
