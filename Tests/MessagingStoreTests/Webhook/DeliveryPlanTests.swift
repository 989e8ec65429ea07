import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Queries of deliveries` {
    static let (webhook, application): (Webhook.ID, Application.ID) = (.sample(1), .sample(2))
    static let now = Timestamp(milliseconds: 5000)

    /// Queries, and the index that each must use.
    static let queries: [(SQL, String)] = [
        (
            .dueDeliveries(of: webhook, besides: [3, 4], at: now, limit: 32, in: application),
            "deliveries_by_time"
        ),
        (.nextDelivery(of: webhook, after: now, in: application), "deliveries_by_time"),
        (.lastDelivery(of: webhook, in: application), "deliveries_by_number"),
        (.firstDeliveries(among: [[1], [2]], of: webhook, in: application), "deliveries_by_head"),
        (
            .joinedLane(of: .sample(3), into: .sample(4), of: webhook, in: application),
            "deliveries_by_lane"
        ),
        (.nextOfLane([1], of: webhook, in: application), "deliveries_by_lane"),
        (
            .deliveries(of: webhook, in: nil, before: 9000, limit: 100, of: application),
            "deliveries_by_number"
        ),
        (
            .deliveries(of: webhook, in: .dead, before: 9000, limit: 100, of: application),
            "deliveries_by_state"
        ),
        (.deliveryCount(of: webhook, in: .dead, of: application), "deliveries_by_state"),
        (
            .lastDeliveries(of: webhook, in: .dead, limit: 100, of: application),
            "deliveries_by_state"
        ),
        (
            .oldestDeliveries(of: webhook, in: .dead, limit: 1000, of: application),
            "deliveries_by_state"
        ),
        (.oldestDeliveries(of: webhook, limit: 1000, in: application), "deliveries_by_number"),
        (.deliveryBacklog, "deliveries_by_state"),
        (
            .events(
                after: LogPosition(9000), through: LogPosition(19_000), kinds: nil, limit: 100,
                in: application), "events_by_position"
        ),
        (
            .events(
                after: LogPosition(9000), through: LogPosition(19_000),
                kinds: [.messageSent, .messageDelivered], limit: 100, in: application),
            "events_by_position"
        ),
    ]

    @Test(.enabled(if: onSQLite), arguments: queries)
    func `read an index, and sort no deliveries`(sql: SQL, index: String) async throws {
        let sample = try await SampleApplication()
        let plan = try await sample.database.read { transaction in
            try transaction.rows("EXPLAIN QUERY PLAN \(sql)") { row in try row.text(3) }
        }.joined(separator: "\n")
        #expect(plan.contains(index), "\(plan)")
        for step in ["SCAN d", "SCAN e", "USE TEMP B-TREE"] {
            #expect(!plan.contains(step), "\(plan)")
        }
    }

    /// PostgreSQL plans by statistics; of a few rows it reads all.
    @Test(.enabled(if: !onSQLite)) func `read the same index on PostgreSQL, with many rows`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.fill()
        for (sql, index) in Self.queries {
            let plan = try await sample.database.read { transaction in
                try transaction.rows("EXPLAIN \(sql)") { row in try row.text(0) }
            }.joined(separator: "\n")
            #expect(plan.contains(index), "\(plan)")
            for step in ["Seq Scan on deliveries", "Seq Scan on events", "Sort"] {
                #expect(!plan.contains(step), "\(plan)")
            }
        }
    }
}

extension SampleApplication {
    /// Inserts ten webhooks with 20,000 deliveries each, some pending and some dead, and as many events. The SQL is
    /// for PostgreSQL.
    fileprivate func fill() async throws {
        let application = `Queries of deliveries`.application
        try await database.write { transaction in
            for number in 1...10 as ClosedRange<UInt128> {
                let webhook: Webhook.ID = .sample(number)
                try transaction.execute(
                    """
                    INSERT INTO webhooks (
                        application, id, payload_version, target, topics, secret, status,
                        created_at, version
                    ) VALUES (\(application), \(webhook), '2.0', 't', '', 's', 'active', 0, 1)
                    """)
                // A tenth is pending in a hundred lanes, and the first of each lane is due.
                try transaction.execute(
                    """
                    INSERT INTO deliveries (
                        application, webhook, number, id, lane, event, type, position, body, state,
                        attempts, created_at, asked_at, next_at, finished_at
                    )
                    SELECT \(application), \(webhook), n, \(webhook) || int8send(n),
                        int8send(CASE WHEN n % 10 = 0 THEN n / 10 % 100 ELSE n END),
                        int8send(n), 'Message.created', n, int8send(n),
                        CASE n % 10 WHEN 0 THEN 'pending' WHEN 1 THEN 'dead' ELSE 'delivered' END,
                        1, n, n, CASE WHEN n % 10 = 0 AND n <= 1000 THEN n END, n
                    FROM generate_series(1, 20000) n
                    """)
            }
            try transaction.execute(
                """
                INSERT INTO events (application, position, kind, at, payload)
                SELECT \(application), n, 'message.sent', n, int8send(n)
                FROM generate_series(1, 20000) n
                """)
            for table in ["webhooks", "deliveries", "events"] as [StaticString] {
                try transaction.execute("ANALYZE \(raw: table)")
            }
        }
    }
}

@Suite(.enabled(if: onSQLite)) struct `Queries of webhooks` {
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
    ]) func `read an index, and sort nothing`(sql: String, index: String) async throws {
        let sample = try await SampleApplication()
        let plan = try await sample.database.read { transaction in
            try transaction.rows(SQL(stringLiteral: "EXPLAIN QUERY PLAN \(sql)")) { row in
                try row.text(3)
            }
        }
        #expect(plan.allSatisfy { step in step.contains("INDEX \(index)") }, "\(plan)")
    }
}
