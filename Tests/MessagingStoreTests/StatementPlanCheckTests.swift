import TestSupport
import Testing

/// The check of all statements that tests prepare on SQLite, itself.
@Suite struct `The check of plans` {
    private func flaws(_ statement: String, _ plan: String...) -> [String] {
        var flaws: [String] = []
        StatementPlans(.server).examine(statement, { plan }) { flaw in flaws.append(flaw) }
        return flaws
    }

    @Test(arguments: [
        (
            "SELECT id FROM messages WHERE application = $1",
            "SEARCH messages USING INDEX i (application=?)"
        ),
        (
            "SELECT m.id FROM participants p JOIN messages m ON m.id = p.last",
            "SEARCH m USING COVERING INDEX i (application=?)"
        ),
        (
            "SELECT u.event FROM following f LEFT JOIN unfollowed u ON TRUE",
            "SEARCH u USING INDEX i (application=?) LEFT-JOIN"
        ),
        ("SELECT id FROM messages WHERE weight = $1", "SCAN messages"),
        ("DELETE FROM events WHERE at < $1", "SCAN events USING INDEX i"),
        (
            "SELECT id FROM receipts",
            "SCAN receipts USING COVERING INDEX sqlite_autoindex_receipts_1"
        ),
    ])
    func `reports a statement that reads a whole table`(statement: String, line: String) {
        #expect(flaws(statement, line).count == 1)
    }

    @Test(arguments: [
        ("SELECT id FROM messages m", "SEARCH m USING INDEX i (application=? AND conversation=?)"),
        (
            "SELECT id FROM webhooks WHERE application = $1",
            "SEARCH webhooks USING INDEX i (application=?)"
        ),
        (
            "SELECT 1 FROM contents WHERE application = $1 LIMIT 1",
            "SEARCH contents USING INDEX i (application=?)"
        ),
        ("SELECT id FROM (VALUES ($1), ($2)) AS named", "SCAN named"),
        ("SELECT id FROM (SELECT id FROM messages) n", "SCAN n"),
        ("SELECT id FROM messages WHERE id IN ()", "SCAN messages"),
        (
            "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s) SELECT n FROM s",
            "SCAN s"
        ),
        ("/* test */ SELECT id FROM messages", "SCAN messages"),
        (
            "SELECT at FROM session_times WHERE application = $1",
            "SEARCH session_times USING INDEX sqlite_autoindex_session_times_1 (application=?)"
        ),
    ])
    func `accepts others`(statement: String, line: String) {
        #expect(flaws(statement, line).isEmpty)
    }

    @Test func `reports a statement once`() {
        let plans = StatementPlans(.server)
        var count = 0
        for _ in 0..<2 {
            plans.examine("SELECT id FROM messages", { ["SCAN messages"] }) { _ in count += 1 }
        }
        #expect(count == 1)
    }
}
