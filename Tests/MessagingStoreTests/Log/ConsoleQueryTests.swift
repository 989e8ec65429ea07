import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

/// A page of the console costs the same however many rows there are.
@Suite struct `Queries of the console` {
    private static let size = TestRounds.number(10_000, of: 1_000_000)
    private static let application: Application.ID = .sample(2)

    /// Queries, and the index that each must use.
    private static let queries: [(SQL, String)] = [
        (
            .events(
                after: LogPosition(1000), through: LogPosition(9000), kinds: nil, limit: 200,
                isDescending: true, in: application), "events_by_position"
        ),
        (.eventTime(at: LogPosition(5000), in: application), "events_by_position"),
        (
            .auditEvents(after: LogPosition(1000), through: LogPosition(9000), isDescending: true),
            "audit_events"
        ),
        (.auditPosition(before: Timestamp(milliseconds: 5000)), "audit_events_by_time"),
        (.conversations(after: .top, limit: 51, in: application), "conversations_by_creation"),
        (.users(after: .top, limit: 51, in: application), "identities_by_creation"),
        (
            .receipts(of: .sample(7), after: nil, limit: 51, in: application),
            "participants_by_conversation"
        ),
        (.aliases(of: .sample(7), in: application), "conversation_aliases_by_conversation"),
        (
            .deliveries(of: .sample(1), in: nil, before: .max, limit: 51, of: application),
            "deliveries_by_number"
        ),
        (.processes(seenSince: Timestamp(milliseconds: 5000)), "processes_by_time"),
        (.jobs(of: nil), "console_jobs_by_time"),
        (.jobs(of: application), "console_jobs_of_application"),
        (.uploads(of: nil, isOpen: true, after: "9", limit: 100), "uploads_by_openness"),
        (
            .uploads(of: "a1", isOpen: false, after: nil, limit: 100), "uploads_of_application"
        ),
    ]

    @Test func `read a range of an index`() async throws {
        let sample = try await SampleApplication()
        try await sample.database.write { transaction in
            try Self.fill(transaction)
            for table in [
                "events", "audit_events", "conversations", "identities", "participants",
                "receipts", "conversation_aliases", "deliveries", "uploads", "processes",
                "console_jobs",
            ] as [StaticString] { try transaction.execute("ANALYZE \(raw: table)") }
        }
        for (sql, index) in Self.queries {
            let plan = try await sample.plan(of: sql)
            #expect(plan.contains(index), "\(plan)")
            #expect(!plan.contains("Seq Scan") && !plan.contains("SCAN "), "\(plan)")
            #expect(!plan.contains("Sort") && !plan.contains("TEMP B-TREE"), "\(plan)")
        }
    }

    private static func fill(_ transaction: Transaction) throws {
        let series: SQL =
            onSQLite
            ? """
            (WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < \(size))
            SELECT n FROM s)
            """ : "generate_series(1, \(size)) AS s(n)"
        let statements: [SQL] = [
            """
            INSERT INTO events (application, position, kind, at, payload)
            SELECT \(application), n, 'message.sent', n, \(number: "n") FROM \(series)
            """,
            """
            INSERT INTO audit_events (position, at, type, repeated)
            SELECT n, n, 'settings.viewed', 1 FROM \(series)
            """,
            """
            INSERT INTO conversations (
                application, id, created_at, is_distinct, is_announced, last_position,
                message_count, metadata, version, participant_count
            ) SELECT \(application), \(number: "n"), n, 0, 1, 1, 1, \(number: "n"), 1, 1 FROM \(series)
            """,
            """
            INSERT INTO identities (application, user_id, kind, conversation_count, created_at)
            SELECT \(application), 'u' || n, 'user', 1, n FROM \(series)
            """,
            // A thousand participants in each conversation; of a hundred PostgreSQL may read all receipts and sort them.
            """
            INSERT INTO participants (
                application, conversation, user_id, place, past, joined_after,
                conversation_created_at
            ) SELECT \(application), \(number: "(n / 1000)"), 'u' || n, n, '', 0, n FROM \(series)
            """,
            """
            INSERT INTO receipts (application, conversation, user_id, delivered, read)
            SELECT \(application), \(number: "(n / 1000)"), 'u' || n, '1', '1' FROM \(series)
            """,
            """
            INSERT INTO conversation_aliases (application, alias, conversation, event, merged_at)
            SELECT \(application), \(number: "n"), \(number: "(n / 2)"), n, n FROM \(series)
            """,
            """
            INSERT INTO deliveries (
                application, webhook, number, id, lane, event, type, position, body, state,
                attempts, created_at, asked_at
            ) SELECT \(application), \(Webhook.ID.sample(1)), n, \(number: "n"), \(number: "n"),
                \(number: "n"), 'Message.created', n, \(number: "n"), 'delivered', 1, n, n
            FROM \(series)
            """,
            """
            INSERT INTO processes (id, version, started_at, last_seen_at, stats)
            SELECT 'p' || n, '1', n, n, '{}' FROM \(series)
            """,
            """
            INSERT INTO console_jobs (
                id, kind, application, state, process, actor, started_at, done
            ) SELECT \(number: "n"), 'export',
                CASE WHEN n % 1000 = 0 THEN \(application) END, 'done', 'p', 'a', n, 1 FROM \(series)
            """,
            """
            INSERT INTO uploads (
                name, version, holder, content, application, owner, is_open, claimed, due_at, record
            ) SELECT CAST(n AS TEXT), 1, \(number: "n"), CAST(n AS TEXT), 'a' || (n % 2), 'o',
                CASE WHEN n % 10 = 0 THEN 1 ELSE 0 END, 1, n, \(number: "n")
            FROM \(series)
            """,
        ]
        for statement in statements { try transaction.execute(statement) }
    }
}
