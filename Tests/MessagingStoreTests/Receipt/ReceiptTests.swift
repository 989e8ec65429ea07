import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Receipts of participants` {
    @Test func `R74: reading takes one from unread for each message, once`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        for _ in 0..<3 { try await shop.send(to: conversation) }
        let fresh = try await shop.store.recordReceipts(
            .read, of: IntervalSet(1...2), by: .bo, in: conversation, in: shop.application)
        #expect(fresh == IntervalSet(1...2))
        #expect(try await shop.view(of: .bo).unreadCount == 1)
        let kinds = try await shop.kinds {
            let again = try await shop.store.recordReceipts(
                .read, of: IntervalSet(1...2), by: .bo, in: conversation, in: shop.application)
            #expect(again.isEmpty)
        }
        #expect(kinds.isEmpty)
    }

    @Test func `R72: the status of a message rises`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let id = try await shop.send(to: conversation).object.message.id
        var statuses: [RecipientStatus?] = []
        for kind in [Receipts.Kind.delivery, .read, .delivery] {
            try await shop.store.recordReceipts(
                kind, of: IntervalSet(1...1), by: .bo, in: conversation, in: shop.application)
            statuses.append(
                try await shop.store.message(id, in: nil, in: shop.application).recipients.last?
                    .status)
        }
        #expect(statuses == [.delivered, .read, .read])
        #expect(try await shop.view(of: .bo).lastMessage?.isUnread == false)
    }

    @Test func `R77: own, absent and deleted messages change nothing`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.send(by: .bo, to: conversation)
        let deleted = try await shop.send(to: conversation).object.message.id
        try await shop.store.deleteMessage(deleted, in: nil, in: shop.application)
        let fresh = try await shop.store.recordReceipts(
            .read, of: IntervalSet(1...9), by: .bo, in: conversation, in: shop.application)
        #expect(fresh.isEmpty)
    }

    @Test func `R29: deleting a read message leaves unread as it was`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let first = try await shop.send(to: conversation).object.message.id
        try await shop.send(to: conversation)
        try await shop.store.recordReceipts(
            .read, of: IntervalSet(1...1), by: .bo, in: conversation, in: shop.application)
        try await shop.store.deleteMessage(first, in: nil, in: shop.application)
        #expect(try await shop.view(of: .bo).unreadCount == 1)
        #expect(try await shop.view(of: .ana).unreadCount == 0)
    }

    @Test func `a stranger has none`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await shop.store.recordReceipts(
                .read, of: IntervalSet(1...1), by: .cy, in: conversation, in: shop.application)
        }
    }

    @Test func `R75: marking all read is one event, and none the second time`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        for _ in 0..<3 { try await shop.send(to: conversation) }
        try await shop.send(by: .bo, to: conversation)
        var reached: [AllRead] = []
        var kinds: [[String]] = []
        for _ in 0..<2 {
            kinds.append(
                try await shop.kinds {
                    reached.append(
                        try await shop.store.markAllRead(
                            upTo: nil, by: .bo, in: conversation, in: shop.application))
                })
        }
        let all = AllRead(conversation: conversation, place: Position(4))
        #expect(reached == [all, all])
        #expect(kinds == [["receipts.recorded"], []])
        #expect(try await shop.view(of: .bo).unreadCount == 0)
    }

    @Test func `R74: up to a place, what follows stays unread`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        for _ in 0..<3 { try await shop.send(to: conversation) }
        let reached = try await shop.store.markAllRead(
            upTo: Position(2), by: .bo, in: conversation, in: shop.application)
        #expect(reached == AllRead(conversation: conversation, place: Position(2)))
        #expect(try await shop.view(of: .bo).unreadCount == 1)
    }

    @Test func `who writes and reads in turn has read one stretch`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        for _ in 0..<4 {
            let heard = try await shop.send(by: .ana, to: conversation).object.message.id
            try await shop.store.recordReceipt(.read, of: heard, by: .bo, in: shop.application)
            try await shop.send(by: .bo, to: conversation)
        }
        #expect(try await shop.readStretches() == ["1-7"])
        #expect(try await shop.view(of: .bo).unreadCount == 0)
    }

    @Test func `what somebody else has sent parts what was read`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        var sent: [Message.ID] = []
        for _ in 0..<3 {
            sent.append(try await shop.send(by: .ana, to: conversation).object.message.id)
        }
        for message in [sent[0], sent[2]] {
            try await shop.store.recordReceipt(.read, of: message, by: .bo, in: shop.application)
        }
        #expect(try await shop.readStretches() == ["1,3"])
        #expect(try await shop.view(of: .bo).unreadCount == 1)
    }

    @Test func `R77: a receipt wants a message that its user sees`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.conversation([.cy])
        let message = try await shop.send(to: conversation).object.message.id
        await #expect(throws: Rejection.notFound(.message)) {
            try await shop.store.recordReceipt(.read, of: message, by: .cy, in: shop.application)
        }
        await #expect(throws: Rejection.notFound(.user)) {
            try await shop.store.recordReceipt(
                .read, of: message, by: .named("nobody"), in: shop.application)
        }
        let kinds = try await shop.kinds {
            try await shop.store.recordReceipt(.read, of: message, by: .bo, in: shop.application)
            try await shop.store.recordReceipt(.read, of: message, by: .bo, in: shop.application)
            try await shop.store.recordReceipt(.read, of: message, by: .ana, in: shop.application)
        }
        #expect(kinds == ["receipts.recorded"])
    }
}

extension Shop {
    /// What each has read, as it is kept.
    fileprivate func readStretches() async throws -> [String] {
        try await database.read { transaction in
            try transaction.rows("SELECT read FROM receipts") { row in try row.text(0) }
        }
    }
}
