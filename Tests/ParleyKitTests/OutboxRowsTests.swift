import JSON
import Messaging
import MessagingWire
import SQL
import TestSupport
import Testing

@testable import ParleyKit

/// What commands do to a store, without a server.
@Suite struct OutboxRowsTests {
    @Test func `more than a thousand intervals are reported in several receipts`() async throws {
        let folder = TemporaryFolder()
        let store = try Store(folder: folder.path, onPrepare: StatementPlans.clientObserver)
        let conversation = ParleyKit.Conversation.ID(.v7(at: Clock.now, random: 1))
        let first = try await store.write { transaction in
            try transaction.insertConversation(conversation)
            try transaction.set("cursor", "e.1")
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
        let report = try #require(
            try await store.read { try StoreTransaction($0).report(of: row) })
        #expect(report.positions.intervals.count == 1000)
        let next = try await store.write { transaction in
            try transaction.succeed(
                row, reporting: report.positions, at: FeedPosition("e.5"), now: Clock.now)
            return try transaction.nextRows()
        }
        let rest = try #require(next.first)
        #expect(rest.number != row.number)
        #expect(
            try await store.read {
                try StoreTransaction($0).report(of: rest)?.positions.intervals.count
            } == 500)
        store.close()
    }

    @Test func `a million received messages are reported ten thousand at a time`() async throws {
        let sample = try await SampleStore()
        let conversation = conversationID(1)
        try await sample.change { transaction in
            try transaction.set("cursor", "e.1")
            try transaction.addConversation(1)
            try transaction.setBase(of: 1)
            try transaction.addMessages(25_000, in: 1)
            try transaction.sql.execute("/* test */ UPDATE messages SET needs_delivery = 1")
            try transaction.enqueueDelivery(in: conversation)
        }
        var reported: [String] = []
        while let row = try await sample.nextRows().first, reported.count < 4 {
            let report = try #require(try await sample.report(of: row))
            reported.append(report.positions.text)
            try await sample.change { transaction in
                try transaction.succeed(
                    row, reporting: report.positions, at: FeedPosition("e.1"), now: Clock.now)
            }
        }
        #expect(reported == ["1-10000", "10001-20000", "20001-25000"])
    }

    @Test
    func `receipts of another device mark what they name, and are one change if they are many`()
        async throws
    {
        let sample = try await SampleStore()
        let conversation = conversationID(1)
        try await sample.change { transaction in
            try transaction.addConversation(1)
            try transaction.setBase(of: 1)
            try transaction.addMessages(12_000, in: 1)
            try transaction.sql.execute(
                "/* test */ UPDATE messages SET needs_delivery = 1, base_unread = 1, is_unread = 1")
        }
        let commits = sample.store.commits.subscribe()
        let data = try JSONDocument(Array("{}".utf8)).root
        let me = try UserID("me").validated()
        func receive(read: String, delivered: String) async throws -> [ObjectChange] {
            let receipts = Receipts(
                delivered: IntervalSet(text: delivered) ?? IntervalSet(),
                read: IntervalSet(text: read) ?? IntervalSet())
            try await sample.change { transaction in
                try transaction.apply(
                    .receipts(conversation.value, me, receipts), data)
            }
            return await commits.next()?.changes ?? []
        }
        func marked(_ column: SQL) async throws -> Int? {
            try await sample.store.read { sql in
                try sql.first(
                    "/* test */ SELECT count(*) AS number FROM messages WHERE \(column) = 0"
                ) { row in try row.int("number") }
            }
        }
        let few = try await receive(read: "2-3", delivered: "1-4")
        #expect(few.count { $0.kind == .updated(property: "isUnread") } == 2)
        #expect(few.count { $0.kind == .updated(property: "recipientStatus") } == 4)
        #expect(try await marked("is_unread") == 2)
        #expect(try await marked("needs_delivery") == 4)
        let many = try await receive(read: "1-11000", delivered: "1-12000")
        #expect(many.first?.kind == .resynchronize)
        #expect(try await marked("is_unread") == 11_000)
        #expect(try await marked("base_unread") == 11_000)
        #expect(try await marked("needs_delivery") == 12_000)
    }

    @Test func `receipts wait until the messages of a merge have come again (K31)`() async throws {
        let sample = try await SampleStore()
        let (former, own) = (conversationID(1), conversationID(2))
        try await sample.change { transaction in
            try transaction.set("cursor", "e.7.rest")
            for number in 1...2 {
                try transaction.addConversation(number)
                try transaction.setBase(of: number)
                try transaction.addMessage(number, in: number, position: 1, isUnread: true)
                let read = try transaction.enqueue(
                    number == 1 ? .read : .markAllRead, lane: .receipts(conversationID(number)),
                    conversation: conversationID(number), payload: number == 1 ? [] : [0x31],
                    at: Clock.now)
                try transaction.sql.execute(
                    "UPDATE messages SET read_by = \(read) WHERE id = \(messageID(number).bytes)")
            }
        }
        let before = try await sample.nextRows()
        #expect(before.map(\.kind) == [.read, .markAllRead])
        let report = try await sample.report(of: before[1])
        #expect(report?.positions.text == "1")
        #expect(report?.cursor == "e.7")
        try await sample.change { transaction in try transaction.merge(former, into: own) }
        #expect(try await sample.nextRows().isEmpty)
        #expect(try await sample.report(of: before[0]) == nil)
        // Both messages come again; the end of the catch-up follows.
        try await sample.change { transaction in
            try transaction.sql.execute(
                "/* test */ UPDATE messages SET snapshot = 0, position = position + 4")
            try transaction.reachEnd(at: nil)
        }
        let after = try await sample.nextRows()
        #expect(after.map(\.number) == [before[0].number])
        #expect(after.map(\.conversation) == [own])
        #expect(try await sample.report(of: try #require(after.first))?.positions.text == "5")
        // Nor is anything known in a snapshot.
        try await sample.change { transaction in try transaction.beginSnapshot() }
        #expect(try await sample.nextRows().isEmpty)
    }

    @Test
    func `the feed wakes the outbox for receipts when the last message of a merge has come (K31)`()
        async throws
    {
        let sample = try await SampleStore()
        let (former, own, other) = (conversationID(1), conversationID(2), conversationID(3))
        try await sample.change { transaction in
            try transaction.set("cursor", "e.7")
            for number in 1...3 {
                try transaction.addConversation(number)
                try transaction.setBase(of: number)
                for message in 0..<2 {
                    try transaction.addMessage(
                        number * 10 + message, in: number, position: Int64(message + 1),
                        isUnread: true)
                }
            }
            for number in [1, 3] {
                let read = try transaction.enqueue(
                    .read, lane: .receipts(conversationID(number)),
                    conversation: conversationID(number), at: Clock.now)
                try transaction.sql.execute(
                    "UPDATE messages SET read_by = \(read) WHERE id = \(messageID(number * 10).bytes)"
                )
            }
        }
        try await sample.change { transaction in try transaction.merge(former, into: own) }
        let commits = sample.store.commits.subscribe()
        typealias Step = @Sendable (StoreTransaction) throws -> Void
        func wakes(_ step: @escaping Step) async throws -> Bool {
            try await sample.change { transaction in
                try step(transaction)
                transaction.note(.updated(property: "x"), of: .conversation(other))
            }
            return await commits.next()?.hasCommands ?? false
        }
        func come(_ message: Int, to conversation: Int, _ position: Int64) -> Step {
            let shown = MessageSnapshot(
                message: Messaging.Message(
                    id: messageID(message).value, conversation: conversationID(conversation).value,
                    position: Position(position), sender: .named("News"), sentAt: Clock.now,
                    parts: []),
                sender: nil, recipients: [], isUnread: true, receivedAt: nil)
            return { transaction in try transaction.apply(shown, messageID(message)) }
        }
        // Receipts wait the whole time, and need nothing of another conversation.
        #expect(try await wakes(come(31, to: 3, 2)) == false)
        #expect(try await wakes(come(20, to: 2, 1)) == false)
        #expect(try await wakes(come(11, to: 2, 3)) == false)
        #expect(try await wakes { try $0.removeMessage(messageID(21)) } == false)
        #expect(try await sample.nextRows().map(\.conversation) == [other])
        #expect(try await wakes(come(10, to: 2, 2)))
        #expect(try await Set(sample.nextRows().map(\.conversation)) == [own, other])
        #expect(try await wakes(come(10, to: 2, 2)) == false)
        // The last one may be removed instead.
        try await sample.change { transaction in
            try transaction.sql.execute(
                "UPDATE messages SET snapshot = -1 WHERE id = \(messageID(11).bytes)")
        }
        #expect(try await wakes { try $0.removeMessage(messageID(11)) })
    }

    @Test func `the first of thousands of waiting commands is found by its lane (K30)`()
        async throws
    {
        let sample = try await SampleStore()
        func statements(_ count: Int) async throws -> Int {
            try await sample.change { transaction in
                for number in 0..<count {
                    try transaction.enqueue(
                        .send, lane: .conversation(conversationID(number % 3)),
                        conversation: conversationID(number % 3), message: messageID(number),
                        at: Clock.now)
                }
            }
            return try await sample.store.read { sql in
                let before = sql.statementCount
                let rows = try StoreTransaction(sql).nextRows()
                #expect(rows.map(\.conversation) == (0..<3).map { conversationID($0) })
                return sql.statementCount - before
            }
        }
        let few = try await statements(3)
        #expect(try await statements(1000) == few)
    }

    @Test(arguments: [true, false])
    func `a patch that the server may have forgotten is done if the base shows it (K31)`(
        isShown: Bool
    ) async throws {
        let sample = try await SampleStore()
        let day: Int64 = 24 * 3_600_000
        let start = Clock.now
        let first = try await sample.store.write { transaction in
            try transaction.addConversation(1)
            try transaction.setBase(of: 1, metadata: isShown ? #"{"a":"1"}"# : #"{"a":"2"}"#)
            let number = try transaction.enqueue(
                .patch, lane: .conversation(conversationID(1)), conversation: conversationID(1),
                payload: Array(#"[{"operation":"set","property":"metadata.a","value":"1"}]"#.utf8),
                at: start)
            return try transaction.beginSending(number, at: start)
        }
        guard case .send(let sent) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(!sent.needsLiveFeed(at: Timestamp(milliseconds: start.milliseconds + day / 2)))
        let later = Timestamp(milliseconds: start.milliseconds + day)
        let again = try await sample.store.write { transaction in
            try transaction.beginSending(sent.number, at: start)
        }
        guard case .send(let repeated) = again else {
            Issue.record("\(again)")
            return
        }
        #expect(repeated.key == sent.key)
        #expect(repeated.needsLiveFeed(at: later))
        let last = try await sample.store.write { transaction in
            try transaction.beginSending(sent.number, at: later)
        }
        switch last {
        case .done: #expect(isShown)
        case .send(let row): #expect(!isShown && row.key != sent.key && row.sentAt == later)
        case .dropped: Issue.record("it was dropped")
        }
    }

    @Test(arguments: [true, false])
    func `the deletion of a message that was refused meanwhile removes it (K34)`(
        isDone: Bool
    ) async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            try transaction.addConversation(1)
            try transaction.setBase(of: 1)
            try transaction.addMessage(1, in: 1, position: nil, isHidden: true)
            for kind in [OutboxKind.send, .deleteMessage] {
                try transaction.enqueue(
                    kind, lane: .conversation(conversationID(1)), conversation: conversationID(1),
                    message: messageID(1), at: Clock.now)
            }
        }
        let send = try #require(try await sample.nextRows().first)
        let error = ParleyError(.server, "refused")
        try await sample.change { transaction in
            _ = try transaction.fail(send, error, wholeLane: !isDone)
        }
        if isDone {
            let deletion = try #require(try await sample.nextRows().first)
            #expect(deletion.kind == .deleteMessage)
            try await sample.change { transaction in
                try transaction.succeed(deletion, reporting: nil, at: nil, now: Clock.now)
            }
        }
        let rows = try await sample.store.read { sql in
            try sql.first(
                """
                /* test */ SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM messages) AS number
                """
            ) { row in try row.int("number") }
        }
        #expect(rows == 0)
    }

    @Test func `a refused follow names the user that would have been followed (K33)`() async throws
    {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            for kind in [OutboxKind.follow, .unfollow, .registerPush] {
                try transaction.enqueue(kind, lane: .user, payload: Array("bo".utf8), at: Clock.now)
            }
        }
        for user in ["bo", "bo", "me"] as [UserID] {
            let row = try #require(try await sample.nextRows().first)
            let failures = try await sample.store.write { transaction in
                try transaction.fail(row, ParleyError(.server, "refused"), wholeLane: false)
            }
            #expect(failures.map(\.object) == [.identity(user)])
        }
    }

    @Test func `a position of the feed is read from both of its forms`() {
        #expect(FeedPosition("abc.12")?.position == 12)
        #expect(FeedPosition("abc.12.s.rest")?.epoch == "abc")
        for text in ["", "abc", ".5", "abc.", "abc.x", "abc.99999999999999999999"] {
            #expect(FeedPosition(text) == nil, "\(text)")
        }
    }
}

extension SampleStore {
    fileprivate func nextRows() async throws -> [OutboxRow] {
        try await store.read { try StoreTransaction($0).nextRows() }
    }

    fileprivate func report(of row: OutboxRow) async throws -> ReceiptReport? {
        try await store.read { try StoreTransaction($0).report(of: row) }
    }
}

extension StoreTransaction {
    /// Stores what the server last sent of a conversation.
    fileprivate func setBase(of number: Int, metadata: String = "{}") throws {
        let base = """
            {"id":"\(conversationID(number))","created_at":"2026-01-01T00:00:00.000Z","participants":[],
            "distinct":false,"metadata":\(metadata),"last_message":null,"unread_message_count":1,
            "total_message_count":1,"aliases":[],"top":1,"window_from":1,"cleared_to":0}
            """
        try sql.execute(
            """
            UPDATE conversations SET base = \(Array(base.utf8))
            WHERE id = \(conversationID(number).value.bytes)
            """)
    }
}
