import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Views are read from indexes` {
    @Test(
        .enabled(if: onSQLite),
        arguments: [
            (ConversationOrder.createdAt, "participants_by_creation"),
            (.lastMessage, "participants_by_last_message"),
        ], [false, true])
    func `a list in either order is read from an index (5_1_3)`(
        list: (order: ConversationOrder, index: String), hasWide: Bool
    ) async throws {
        let (order, index) = list
        let sample = try await SampleApplication()
        let plan = try await sample.plan(
            of: .views(
                of: .ana, sortedBy: order, hasWide: hasWide, after: .top, limit: 100,
                in: sample.application))
        #expect(plan.contains(index))
        // Only wide conversations have to be sorted in.
        #expect(order == .lastMessage && hasWide || !plan.contains("TEMP B-TREE"))
        for table in ["participants", "p", "c", "m", "v", "h"] {
            #expect(!(plan + "\n").contains("SCAN \(table)\n"), "\(plan)")
        }
    }

    @Test(.enabled(if: onSQLite))
    func `a badge reads only conversations with unread messages (5_10)`() async throws {
        let sample = try await SampleApplication()
        let plan = try await sample.plan(
            """
            SELECT COUNT(*), SUM(unread_count) FROM participants
            WHERE application = x'00' AND user_id = 'ana' AND state = 'shown' AND unread_count > 0
            """)
        #expect(plan.count == 1)
        #expect(plan.contains { step in step.contains("participants_unread (application=") })
    }

    @Test func `marking a long conversation as read counts none of its messages (R75)`()
        async throws
    {
        let sample = try await SampleApplication()
        let id = try await sample.conversation()
        for number in 1...40 { try await sample.send(by: number % 2 == 0 ? .ana : .bo, to: id) }
        _ = try await sample.store.markAllRead(upTo: nil, by: .bo, in: id, in: sample.application)
        guard case .receiptsRecorded(let recorded) = try await sample.events().last?.event else {
            Issue.record("no receipt")
            return
        }
        // The user's own messages are included, so that there is one interval.
        #expect(recorded.positions.text == "1-40")
        #expect(try await sample.view(of: id, for: .bo).unreadCount == 0)
    }

    @Test func `marking up to a position in the middle counts the messages between once (R75)`()
        async throws
    {
        let sample = try await SampleApplication()
        let id = try await sample.conversation()
        for number in 1...20 { try await sample.send(by: number % 2 == 0 ? .ana : .bo, to: id) }
        for (position, left) in [(6, 7), (6, 7), (13, 4), (20, 0)] as [(Int64, Int64)] {
            _ = try await sample.store.markAllRead(
                upTo: Position(position), by: .bo, in: id, in: sample.application)
            #expect(try await sample.view(of: id, for: .bo).unreadCount == left)
        }
    }
}

extension SampleApplication {
    /// How the database would run a statement.
    fileprivate func plan(_ statement: String) async throws -> [String] {
        try await database.read { transaction in
            try transaction.rows(SQL(stringLiteral: "EXPLAIN QUERY PLAN \(statement)")) { row in
                try row.text("detail")
            }
        }
    }
}
