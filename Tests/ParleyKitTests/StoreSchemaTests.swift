import Messaging
import SQL
import TestSupport
import Testing

@testable import ParleyKit

/// The tables of a store, and stores of earlier versions.
@Suite struct StoreSchemaTests {
    @Test func `a store of the first schema keeps its rows, and gets what is new (K20)`()
        async throws
    {
        let folder = TemporaryFolder()
        let old = try Database.open(
            file: Store.database(in: folder.path),
            migrations: Array(StoreSchema.migrations.prefix(1)))
        try await old.write { sql in try StoreTransaction(sql).fillFirstSchema() }
        let tables = ["conversations", "messages", "parts", "outbox", "settings"]
        let before = try await old.read { sql in try sql.dump(tables) }
        old.close()
        let store = try Store(folder: folder.path, onPrepare: StatementPlans.clientObserver)
        #expect(try await store.read { sql in try sql.dump(tables) } == before)
        #expect(
            try await store.read { sql in try sql.messageCounts() }
                == (1...3).map { number in
                    MessageCounts(conversation: conversationID(number).bytes, shown: 5, unsent: 2)
                })
        let runner = QueryRunner(store, OutboxActivity()) { _, _ in }
        let unsent = try await runner.ids(Query<Message>(where: { $0.isSent == false }))
        #expect(Set(unsent) == Set([14, 15, 24, 25, 34, 35].map(messageID)))
        #expect(
            try await runner.ids(Query<MessagePart>(where: { $0.transferStatus == .downloading }))
                .map(\.message) == [11, 21, 31].map(messageID))
        #expect(
            try await runner.ids(
                Query<Conversation>(where: { $0.participants == ["ann", "bob"] }))
                == [conversationID(2)])
        let next = try await store.read { sql in try StoreTransaction(sql).nextRows() }
        #expect(next.map(\.message) == [14, 24, 34].map(messageID))
        store.close()
    }

    @Test func `unsent messages are counted through all changes of messages`() async throws {
        let sample = try await SampleStore()
        var random = SeededGenerator(3)
        for number in 0..<300 {
            let (conversation, other) = (random.number(1...3), random.number(1...3))
            let id = messageID(random.below(number + 1)).bytes
            let (isHidden, isSent, kind) = (
                random.once(in: 3), random.once(in: 2), random.below(5)
            )
            try await sample.change { transaction in
                switch kind {
                case 0: try transaction.sql.execute("DELETE FROM messages WHERE id = \(id)")
                case 1:
                    try transaction.sql.execute(
                        """
                        UPDATE messages SET is_hidden = \(isHidden),
                            conversation = \(conversationID(other).bytes) WHERE id = \(id)
                        """)
                case 2:
                    let position: Int64? = isSent ? 7 : nil
                    try transaction.sql.execute(
                        "UPDATE messages SET position = \(position) WHERE id = \(id)")
                default:
                    try transaction.addMessage(
                        number, in: conversation, position: isSent ? Int64(number + 1) : nil,
                        isHidden: isHidden)
                }
            }
        }
        let kept = try await sample.store.read { sql in try sql.messageCounts() }
        let counted = try await sample.store.read { sql in try sql.countMessages() }
        #expect(kept == counted)
        #expect(counted.contains { counts in counts.unsent > 0 })
    }
}

/// The shown messages of a conversation, and how many of them have no position.
private struct MessageCounts: Equatable, Sendable {
    let conversation: [UInt8]
    let shown: Int
    let unsent: Int

    init(conversation: [UInt8], shown: Int, unsent: Int) {
        self.conversation = conversation
        self.shown = shown
        self.unsent = unsent
    }

    init(_ row: borrowing Row) throws {
        self.init(
            conversation: try row.blob("conversation"), shown: try row.int("shown"),
            unsent: try row.int("unsent"))
    }
}

extension Transaction {
    /// All rows of tables as texts.
    fileprivate func dump(_ tables: [String]) throws -> [String] {
        try tables.flatMap { table in
            let columns = try rows(
                "/* test */ SELECT 'quote(' || name || ')' AS column_text FROM pragma_table_info(\(table))"
            ) { row in try row.text("column_text") }
            let all = columns.joined(separator: " || ' ' || ")
            return try rows(
                SQL(stringLiteral: "/* test */ SELECT \(all) AS row_text FROM \(table) ORDER BY 1")
            ) { row in try row.text("row_text") }
        }
    }

    /// The numbers that the store keeps.
    fileprivate func messageCounts() throws -> [MessageCounts] {
        try rows(
            """
            /* test */ SELECT conversation, shown, unsent FROM message_counts
            WHERE shown > 0 ORDER BY conversation
            """
        ) { row in try MessageCounts(row) }
    }

    /// The same numbers, counted.
    fileprivate func countMessages() throws -> [MessageCounts] {
        try rows(
            """
            /* test */ SELECT conversation, count(*) AS shown, sum(position IS NULL) AS unsent FROM messages
            WHERE is_hidden = 0 AND conversation IS NOT NULL GROUP BY conversation ORDER BY conversation
            """
        ) { row in try MessageCounts(row) }
    }
}

extension StoreTransaction {
    /// Three conversations with sent, unsent, hidden and partial messages, and commands that wait.
    fileprivate func fillFirstSchema() throws {
        try set("user", "me")
        for number in 1...3 {
            let participants: [UserID] = number == 2 ? ["me", "ann", "bob"] : ["me", "cy"]
            try addConversation(number, participants: participants)
            for index in 0..<6 {
                let message = number * 10 + index
                try addMessage(
                    message, in: number, position: index < 4 ? Int64(index + 1) : nil,
                    isHidden: index == 3)
                try addPart(0, of: message, status: index == 1 ? .downloading : .complete)
                guard index > 3 else { continue }
                try enqueue(
                    .send, lane: .conversation(conversationID(number)),
                    conversation: conversationID(number), message: messageID(message),
                    at: Clock.now)
            }
        }
        try addMessage(90, in: nil, position: nil, place: 5, service: "News")
    }
}
