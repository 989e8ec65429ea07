import Messaging
import SQL
import TestSupport
import Testing

@testable import ParleyKit

/// What commands do to a store, without a server.
@Suite struct OutboxRowsTests {
    @Test func `more than a thousand intervals are reported in several receipts`() async throws {
        let folder = TemporaryFolder()
        let store = try Store(folder: folder.path)
        let conversation = ParleyKit.Conversation.ID(.v7(at: Clock.now, random: 1))
        let first = try await store.write { transaction in
            try transaction.insertConversation(conversation)
            let number = try transaction.enqueue(
                .read, lane: .receipts(conversation), conversation: conversation, at: Clock.now)
            for index in 0..<1500 {
                let id = ParleyKit.Message.ID(.v7(at: Clock.now, random: .random(in: 0 ... .max)))
                try transaction.sql.execute(
                    """
                    INSERT INTO messages (id, conversation, position, place, base_unread, read_by)
                    VALUES (\(id.bytes), \(conversation.bytes), \(2 * index + 1), \(2 * index + 1), 1, \(number))
                    """)
            }
            return try transaction.nextRows()
        }
        let row = try #require(first.first)
        let positions = try await store.read { try StoreTransaction($0).positions(of: row) }
        #expect(positions.intervals.count == 1000)
        let next = try await store.write { transaction in
            try transaction.succeed(
                row, reporting: positions, at: FeedPosition("e.5"), now: Clock.now)
            return try transaction.nextRows()
        }
        let rest = try #require(next.first)
        #expect(rest.number != row.number)
        #expect(
            try await store.read { try StoreTransaction($0).positions(of: rest).intervals.count }
                == 500)
        store.close()
    }

    @Test func `a position of the feed is read from both of its forms`() {
        #expect(FeedPosition("abc.12")?.position == 12)
        #expect(FeedPosition("abc.12.s.rest")?.epoch == "abc")
        for text in ["", "abc", ".5", "abc.", "abc.x", "abc.99999999999999999999"] {
            #expect(FeedPosition(text) == nil, "\(text)")
        }
    }
}
