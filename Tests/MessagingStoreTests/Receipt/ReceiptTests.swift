import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Receipts of participants` {
    @Test func `R74: reading decrements unread once for each message`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for _ in 0..<3 { try await sample.send(to: conversation) }
        let fresh = try await sample.store.recordReceipts(
            .read, of: IntervalSet(1...2), by: .bo, in: conversation, in: sample.application)
        #expect(fresh == IntervalSet(1...2))
        #expect(try await sample.view(of: .bo).unreadCount == 1)
        let kinds = try await sample.kinds {
            let again = try await sample.store.recordReceipts(
                .read, of: IntervalSet(1...2), by: .bo, in: conversation, in: sample.application)
            #expect(again.isEmpty)
        }
        #expect(kinds.isEmpty)
    }

    @Test func `R72: the status of a message increases`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let id = try await sample.send(to: conversation).object.message.id
        var statuses: [RecipientStatus?] = []
        for kind in [Receipts.Kind.delivery, .read, .delivery] {
            try await sample.store.recordReceipts(
                kind, of: IntervalSet(1...1), by: .bo, in: conversation, in: sample.application)
            statuses.append(
                try await sample.store.message(id, in: nil, in: sample.application).recipients.last?
                    .status)
        }
        #expect(statuses == [.delivered, .read, .read])
        #expect(try await sample.view(of: .bo).lastMessage?.isUnread == false)
    }

    @Test func `R77: own, absent and deleted messages change nothing`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.send(by: .bo, to: conversation)
        let deleted = try await sample.send(to: conversation).object.message.id
        try await sample.store.deleteMessage(deleted, in: nil, in: sample.application)
        let fresh = try await sample.store.recordReceipts(
            .read, of: IntervalSet(1...9), by: .bo, in: conversation, in: sample.application)
        #expect(fresh.isEmpty)
    }

    @Test func `R29: deleting a read message does not change unread`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let first = try await sample.send(to: conversation).object.message.id
        try await sample.send(to: conversation)
        try await sample.store.recordReceipts(
            .read, of: IntervalSet(1...1), by: .bo, in: conversation, in: sample.application)
        try await sample.store.deleteMessage(first, in: nil, in: sample.application)
        #expect(try await sample.view(of: .bo).unreadCount == 1)
        #expect(try await sample.view(of: .ana).unreadCount == 0)
    }

    @Test func `a user who is no participant has none`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        await #expect(throws: Rejection.notFound(.conversation)) {
            try await sample.store.recordReceipts(
                .read, of: IntervalSet(1...1), by: .cy, in: conversation, in: sample.application)
        }
    }

    @Test func `R75: marking all as read is one event, and none when repeated`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for _ in 0..<3 { try await sample.send(to: conversation) }
        try await sample.send(by: .bo, to: conversation)
        var reached: [MarkAllReadResult] = []
        var kinds: [[String]] = []
        for _ in 0..<2 {
            kinds.append(
                try await sample.kinds {
                    reached.append(
                        try await sample.store.markAllRead(
                            upTo: nil, by: .bo, in: conversation, in: sample.application))
                })
        }
        let all = MarkAllReadResult(conversation: conversation, lastRead: Position(4))
        #expect(reached == [all, all])
        #expect(kinds == [["message.read"], []])
        #expect(try await sample.view(of: .bo).unreadCount == 0)
    }

    @Test func `R74: marking up to a position leaves later messages unread`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for _ in 0..<3 { try await sample.send(to: conversation) }
        let reached = try await sample.store.markAllRead(
            upTo: Position(2), by: .bo, in: conversation, in: sample.application)
        #expect(reached == MarkAllReadResult(conversation: conversation, lastRead: Position(2)))
        #expect(try await sample.view(of: .bo).unreadCount == 1)
    }

    @Test func `receipts of a user who alternates between sending and reading are one interval`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for _ in 0..<4 {
            let received = try await sample.send(by: .ana, to: conversation).object.message.id
            try await sample.store.recordReceipt(
                .read, of: received, by: .bo, in: sample.application)
            try await sample.send(by: .bo, to: conversation)
        }
        #expect(try await sample.readIntervals() == ["1-7"])
        #expect(try await sample.view(of: .bo).unreadCount == 0)
    }

    @Test func `unread messages of another sender split the intervals`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        var sent: [Message.ID] = []
        for _ in 0..<3 {
            sent.append(try await sample.send(by: .ana, to: conversation).object.message.id)
        }
        for message in [sent[0], sent[2]] {
            try await sample.store.recordReceipt(
                .read, of: message, by: .bo, in: sample.application)
        }
        #expect(try await sample.readIntervals() == ["1,3"])
        #expect(try await sample.view(of: .bo).unreadCount == 1)
    }

    @Test func `R77: a receipt needs a message that its user sees`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.conversation([.cy])
        let message = try await sample.send(to: conversation).object.message.id
        await #expect(throws: Rejection.notFound(.message)) {
            try await sample.store.recordReceipt(
                .read, of: message, by: .cy, in: sample.application)
        }
        await #expect(throws: Rejection.notFound(.user)) {
            try await sample.store.recordReceipt(
                .read, of: message, by: .named("unknown"), in: sample.application)
        }
        let kinds = try await sample.kinds {
            try await sample.store.recordReceipt(
                .read, of: message, by: .bo, in: sample.application)
            try await sample.store.recordReceipt(
                .read, of: message, by: .bo, in: sample.application)
            try await sample.store.recordReceipt(
                .read, of: message, by: .ana, in: sample.application)
        }
        #expect(kinds == ["message.read"])
    }
}

extension SampleApplication {
    /// The stored receipts of each participant.
    fileprivate func readIntervals() async throws -> [String] {
        try await database.read { transaction in
            try transaction.rows("/* test */ SELECT read FROM receipts") { row in try row.text(0) }
        }
    }
}
