import Locking
import Messaging
import SQL

@testable import MessagingStore

extension Shop {
    /// Its export.
    func lines() async throws -> [MovedLine] {
        let lines = Locked<[MovedLine]>([])
        try await store.forEachLine(of: application) { line in
            lines.withLock { lines in lines.append(line) }
        }
        return lines.withLock { lines in lines }
    }

    /// Imports lines, some to a transaction.
    @discardableResult
    func take(_ lines: [MovedLine], atOnce count: Int = 7) async throws -> [ImportOutcome] {
        var outcomes: [ImportOutcome] = []
        var steps: [ImportStep] = []
        var open: Conversation.ID?
        for line in lines {
            switch line {
            case .application(let application):
                outcomes.append(try await store.bringApplication(application))
            case .bytes: break
            case .record(let record):
                if case .message = record {
                } else {
                    if let open { steps.append(.settle(open)) }
                    open = nil
                }
                if case .conversation(let moved) = record { open = moved.conversation.id }
                steps.append(.record(record))
            }
        }
        if let open { steps.append(.settle(open)) }
        for some in steps.chunks(of: count) {
            outcomes += try await store.bring(some, in: application)
        }
        return outcomes
    }

    /// Takes away what no export holds: the rows of deleted conversations, and which event brought a message.
    func forgetDeleted() async throws {
        try await database.write { [application] transaction in
            let deleted: SQL =
                """
                application = \(application) AND conversation IN (
                    SELECT id FROM conversations WHERE deleted_at IS NOT NULL
                )
                """
            try transaction.execute("DELETE FROM messages WHERE \(deleted)")
            try transaction.execute("UPDATE messages SET event = 0")
            try transaction.execute("DELETE FROM hidden_messages WHERE \(deleted)")
            try transaction.execute(
                "DELETE FROM parts WHERE message NOT IN (SELECT id FROM messages)")
            try transaction.execute(
                """
                UPDATE conversations SET
                    is_distinct = 0, is_announced = 1, last_position = 0, last_sent_at = NULL,
                    message_count = 0, metadata = \(Metadata().columnBytes)
                WHERE deleted_at IS NOT NULL
                """)
        }
    }
}
