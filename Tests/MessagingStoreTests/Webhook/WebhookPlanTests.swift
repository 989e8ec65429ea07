import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite(.enabled(if: onSQLite)) struct `Looking for webhooks` {
    @Test(arguments: [
        (
            "SELECT id FROM webhooks WHERE application = x'00' AND id < x'FF' ORDER BY id",
            "webhooks_by_id"
        ),
        ("SELECT COUNT(*) FROM webhooks WHERE application = x'00'", "webhooks_by_id"),
        (
            """
            SELECT id FROM webhooks WHERE status = 'unverified' AND (application, id) > (x'', x'')
            ORDER BY application, id
            """, "webhooks_unverified"
        ),
        (
            """
            SELECT id FROM webhooks WHERE status = 'active' AND (application, id) > (x'', x'')
            ORDER BY application, id
            """, "webhooks_active"
        ),
    ]) func `reads an index, and sorts nothing`(sql: String, index: String) async throws {
        let shop = try await Shop()
        let plan = try await shop.database.read { transaction in
            try transaction.rows(SQL(stringLiteral: "EXPLAIN QUERY PLAN \(sql)")) { row in
                try row.text(3)
            }
        }
        #expect(plan.allSatisfy { step in step.contains("INDEX \(index)") }, "\(plan)")
    }
}
