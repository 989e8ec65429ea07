import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite(.enabled(if: onSQLite)) struct `Looking for deliveries` {
    static let (webhook, application): (Webhook.ID, Application.ID) = (.sample(1), .sample(2))
    static let now = Timestamp(milliseconds: 5)

    /// What is asked, and the index that answers.
    static let asked: [(SQL, String)] = [
        (
            .dueDeliveries(of: webhook, besides: [3, 4], at: now, limit: 32, in: application),
            "deliveries_by_time"
        ),
        (.nextDelivery(of: webhook, after: now, in: application), "deliveries_by_time"),
        (.lastDelivery(of: webhook, in: application), "deliveries_by_number"),
        (.ledLanes(among: [[1], [2]], of: webhook, in: application), "deliveries_by_head"),
        (.nextOfLane([1], of: webhook, in: application), "deliveries_by_lane"),
        (
            .deliveries(of: webhook, in: nil, before: 9, limit: 100, of: application),
            "deliveries_by_number"
        ),
        (
            .deliveries(of: webhook, in: .dead, before: 9, limit: 100, of: application),
            "deliveries_by_state"
        ),
        (.deliveryCount(of: webhook, in: .pending, of: application), "deliveries_by_state"),
        (
            .lastDeliveries(of: webhook, in: .dead, limit: 100, of: application),
            "deliveries_by_state"
        ),
        (
            .oldestDeliveries(of: webhook, in: .delivered, limit: 1000, of: application),
            "deliveries_by_state"
        ),
        (.oldestDeliveries(of: webhook, limit: 1000, in: application), "deliveries_by_number"),
        (.deliveryBacklog, "deliveries_by_state"),
    ]

    @Test(arguments: asked) func `reads an index, and sorts no deliveries`(
        sql: SQL, index: String
    ) async throws {
        let shop = try await Shop()
        let plan = try await shop.plan(of: sql).joined(separator: "\n")
        #expect(plan.contains(index), "\(plan)")
        for step in ["SCAN d", "USE TEMP B-TREE"] {
            #expect(!plan.contains(step), "\(plan)")
        }
    }
}

extension Shop {
    /// How the database would run a statement, step by step.
    fileprivate func plan(of sql: SQL) async throws -> [String] {
        try await database.read { transaction in
            try transaction.rows("EXPLAIN QUERY PLAN \(sql)") { row in try row.text(3) }
        }
    }
}
