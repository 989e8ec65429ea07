import Foundation
import Messaging
import SQL
import TestSupport
import Testing

@testable import ParleyKit

@Suite struct `Queries` {
    @Test func `find messages whose parts are all complete (K44)`() async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            try transaction.addConversation(1)
            for (message, statuses) in [
                [TransferStatus.complete, .complete], [.complete, .downloading],
                [.readyForDownload], [.complete], [.awaitingUpload, .uploading],
            ].enumerated() {
                try transaction.addMessage(message, in: 1, position: Int64(message + 1))
                for (index, status) in statuses.enumerated() {
                    try transaction.addPart(index, of: message, status: status)
                }
            }
        }
        let complete = Query<Message>(where: { !($0.parts.transferStatus <= .downloading) })
        #expect(try await sample.runner.ids(complete) == [messageID(0), messageID(3)])
        let awaiting = Query<Message>(where: {
            $0.conversation == conversationID(1)
                && ($0.parts.transferStatus == .uploading || $0.position > 3)
        })
        #expect(try await sample.runner.ids(awaiting) == [messageID(3), messageID(4)])
    }

    @Test func `compare optional and plain values in one filter`() async throws {
        let sample = try await SampleStore()
        try await sample.fill(seed: 1)
        let query = Query<Message>(where: {
            $0.conversation != nil && $0.sentAt >= time(3) && $0.isUnread == true
                && !$0.sender.name.like("n%") && $0.sender.userID.isIn(["me", "ann"] as Set)
                && ($0.receivedAt == nil || $0.parts.size > 1000)
        })
        let found = try await sample.runner.fetch(query)
        let expected = try await sample.messages().filter { message in
            message.conversation != nil && message.sentAt.map { $0 >= time(3) } ?? false
                && message.isUnread && ["me", "ann"].contains(message.sender.userID)
                && (message.receivedAt == nil || message.parts.contains { $0.size > 1000 })
        }
        #expect(Set(found) == Set(expected))
    }

    @Test(arguments: TestRounds.seeds(2, of: 20))
    func `sort, and leave elements out at both ends`(seed: UInt64) async throws {
        let sample = try await SampleStore()
        try await sample.fill(seed: seed)
        let orders: [(Message.Columns) -> [Sort<Message>]] = [
            { [$0.sentAt.ascending] }, { [$0.isUnread.descending, $0.receivedAt.descending] },
            { [$0.position.ascending, $0.id.descending] }, { _ in [] }, Message.naturalOrder,
        ]
        let bounds: [(Int?, Int)] = [(nil, 3), (4, 0), (5, 7), (0, 0), (9, 500), (-1, -1)]
        let windows: [Window] = [.all, .first(2), .first(-1), .last(2), .last(500), .last(0)]
        for order in orders {
            let all = try await sample.runner.ids(Query<Message>(sort: order))
            for (limit, offset) in bounds {
                let query = Query<Message>(sort: order, limit: limit, offset: offset)
                let expected = Array(all.dropFirst(max(0, offset)).prefix(max(0, limit ?? .max)))
                #expect(try await sample.runner.ids(query) == expected)
                #expect(try await sample.runner.count(query) == expected.count)
                for window in windows {
                    let set = try await sample.first(query, window)
                    let held: ArraySlice<Message.ID> =
                        switch window {
                        case .all: expected[...]
                        case .first(let count): expected.prefix(max(0, count))
                        case .last(let count): expected.suffix(max(0, count))
                        }
                    #expect(
                        set.elements.map(\.id) == Array(held), "\(limit ?? -9) \(offset) \(window)")
                    #expect(set.total == expected.count)
                }
            }
        }
        let sent = try await sample.runner.fetch(Query<Message>(sort: { [$0.sentAt.ascending] }))
        let times = sent.map { message in message.sentAt ?? .distantPast }
        #expect(times == times.sorted())
    }

    @Test func `have conversations with the newest message first (K64)`() async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            for (number, time) in [3, 9, 1, 9].enumerated() {
                try transaction.addConversation(number, activeAt: Int64(time))
            }
        }
        #expect(
            try await sample.runner.ids(Query<Conversation>())
                == [conversationID(3), conversationID(1), conversationID(0), conversationID(2)])
    }

    @Test func `have identities by their names (K64)`() async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            for (user, name) in [("x", "b"), ("y", "a"), ("z", "c")] {
                try transaction.sql.execute(
                    """
                    INSERT INTO identities (user, is_followed, snapshot, display_name)
                    VALUES (\(user), 1, 0, \(name))
                    """)
            }
        }
        #expect(try await sample.runner.ids(Query<Identity>()) == ["y", "x", "z"])
    }

    @Test func `have unsent messages last, in the order of sending (K64)`() async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            try transaction.addMessage(1, in: 1, position: nil, place: 1 << 62 + 2)
            try transaction.addMessage(2, in: 1, position: 2)
            try transaction.addMessage(3, in: 1, position: nil, place: 1 << 62 + 1)
            try transaction.addMessage(4, in: 1, position: 1)
        }
        for query in [
            Query<Message>(), Query<Message>(where: { $0.conversation == conversationID(1) }),
            Query<Message>(sort: { [$0.position.ascending] }),
        ] {
            #expect(
                try await sample.runner.ids(query)
                    == [messageID(4), messageID(2), messageID(3), messageID(1)])
        }
    }

    @Test func `find a conversation and its messages by a former id (K24, K58)`() async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            try transaction.addConversation(1)
            try transaction.addMessage(1, in: 1, position: 1)
            try transaction.addPart(0, of: 1)
            try transaction.alias(9, to: 1)
        }
        let former = conversationID(9)
        let current = conversationID(1)
        let runner = sample.runner
        #expect(try await runner.ids(Query<Conversation>(where: { $0.id == former })) == [current])
        #expect(try await runner.count(Query<Conversation>(where: { $0.id != former })) == 0)
        #expect(try await runner.count(Query<Conversation>(where: { $0.id.isIn([former]) })) == 1)
        #expect(try await runner.count(Query<Message>(where: { $0.conversation == former })) == 1)
        #expect(
            try await runner.count(Query<MessagePart>(where: { $0.conversation == former })) == 1)
    }

    @Test func `count the messages of a conversation through all their changes`() async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            for number in 1...3 { try transaction.addConversation(number) }
        }
        var random = SeededGenerator(1)
        for number in 0..<200 {
            let (conversation, other) = (random.number(1...3), random.number(1...3))
            let message = random.below(number + 1)
            let isHidden = random.once(in: 2)
            let kind = random.below(4)
            try await sample.change { transaction in
                let id = messageID(message).value.bytes
                switch kind {
                case 0: try transaction.sql.execute("DELETE FROM messages WHERE id = \(id)")
                case 1:
                    try transaction.sql.execute(
                        """
                        UPDATE messages SET is_hidden = \(isHidden),
                            conversation = \(conversationID(other).value.bytes) WHERE id = \(id)
                        """)
                default:
                    try transaction.addMessage(
                        number, in: conversation, position: Int64(number + 1), isHidden: isHidden)
                }
            }
            let query = Query<Message>(where: { $0.conversation == conversationID(conversation) })
            let found = try await sample.runner.ids(query)
            #expect(try await sample.runner.count(query) == found.count)
        }
        try await sample.change { transaction in
            try transaction.sql.execute("/* test */ UPDATE conversations SET is_hidden = 1")
        }
        #expect(
            try await sample.runner.count(
                Query<Message>(where: { $0.conversation == conversationID(1) })) == 0)
    }

    @Test func `refuse an invalid path of metadata`() async throws {
        let sample = try await SampleStore()
        let queries: [Query<Conversation>] = [
            Query(where: { $0.metadata["a..b"] == "x" }),
            Query(where: { !$0.metadata["a\"b"].like("x") }),
            Query(sort: { [$0.metadata["ä"].ascending] }),
            Query(sections: { .value($0.metadata[""]) }),
        ]
        for query in queries {
            await #expect {
                _ = try await sample.runner.fetch(query)
            } throws: { error in
                (error as? ParleyError)?.code == .invalidMetadata
            }
        }
    }

    @Test func `accept dates and numbers outside every range`() async throws {
        let sample = try await SampleStore()
        try await sample.fill(seed: 1)
        let infinity = Date(timeIntervalSince1970: .infinity)
        let query = Query<Message>(where: {
            $0.sentAt < infinity && $0.sentAt > Date(timeIntervalSince1970: -.infinity)
                && $0.sentAt != Date(timeIntervalSince1970: .nan) && $0.position <= .max
        })
        let expected = try await sample.messages().filter { message in
            message.sentAt != nil && message.position != nil
        }
        #expect(try await sample.runner.count(query) == expected.count)
    }
}

@Suite struct `Indexes` {
    private static let here = conversationID(1)

    /// How the database runs a query for its last 50 elements.
    private func plan<Element>(_ query: Query<Element>) async throws -> String {
        try await SampleStore().store.read { transaction in
            let sql = try QueryReader(query, in: transaction)
                .selectingRows(limit: 50, offset: 0, isReversed: true)
            let steps = try transaction.rows("EXPLAIN QUERY PLAN \(sql)") { row in
                try row.text("detail")
            }
            return steps.joined(separator: "; ")
        }
    }

    @Test func `give the default orders (K59)`() async throws {
        let messages = try await plan(Query<Message>(where: { $0.conversation == Self.here }))
        #expect(messages.contains("messages_by_place (conversation=?)"))
        #expect(!messages.contains("TEMP B-TREE"))
        let conversations = try await plan(Query<Conversation>())
        #expect(conversations.contains("conversations_by_activity (is_hidden=?)"))
        #expect(!conversations.contains("TEMP B-TREE"))
    }

    @Test func `read any number of elements with the same few statements (K59)`() async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            for number in 1...300 {
                try transaction.addConversation(
                    number, participants: ["me", UserID("u\(number)")],
                    last: messageID(number * 10))
                for index in 0..<3 {
                    let message = number * 10 + index
                    try transaction.addMessage(
                        message, in: number, position: index == 2 ? nil : Int64(index + 1),
                        sender: UserID("u\(message)"))
                    for part in 0..<2 { try transaction.addPart(part, of: message) }
                    if index == 2 {
                        try transaction.sql.execute(
                            """
                            INSERT INTO outbox (lane, kind, conversation, message, payload, key, created_at)
                            VALUES ('l', 'send', \(conversationID(number).value.bytes),
                                \(messageID(message).value.bytes), x'', 'k', 0)
                            """)
                    }
                }
            }
        }
        func statements<Element>(_ query: Query<Element>) async throws -> (read: Int, found: Int) {
            try await sample.store.read { [activity = sample.activity] transaction in
                let reader = try QueryReader(query, in: transaction)
                let rows = try reader.rows()
                let before = transaction.statementCount
                let found = try reader.elements(rows, activity).count
                return (transaction.statementCount - before, found)
            }
        }
        for limit in [1, 10, 300] {
            let messages = try await statements(Query<Message>(limit: limit))
            #expect(messages.found == limit && messages.read <= 5, "\(messages)")
            let conversations = try await statements(Query<Conversation>(limit: limit))
            #expect(conversations.found == limit && conversations.read <= 8, "\(conversations)")
            let parts = try await statements(Query<MessagePart>(limit: limit))
            #expect(parts.found == limit && parts.read == 1, "\(parts)")
        }
        #expect(try await statements(Query<Message>()).found == 900)
        #expect(try await statements(Query<Message>()).read <= 10)
    }

    @Test func `find unread messages, positions and the states of parts (K59)`() async throws {
        let unread = try await plan(
            Query<Message>(where: { $0.conversation == Self.here && $0.isUnread == true }))
        #expect(unread.contains("messages_unread_shown (conversation=?)"))
        #expect(!unread.contains("TEMP B-TREE"))
        let newer = try await plan(
            Query<Message>(where: { $0.conversation == Self.here && $0.position > 100 }))
        #expect(newer.contains("messages_by_place (conversation=? AND place>?)"))
        let parts = try await plan(Query<MessagePart>(where: { $0.transferStatus < .complete }))
        #expect(parts.contains("parts_by_status (status<?)"))
        let incomplete = try await plan(
            Query<Message>(where: { $0.parts.transferStatus < .complete }))
        #expect(incomplete.contains("parts_by_status (status<?)"))
        let known = try await plan(Query<Conversation>(where: { $0.participants.contains("ann") }))
        #expect(known.contains("participants_by_user (user=?)"))
    }
}

@Suite struct `Sections` {
    @Test(arguments: ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"])
    func `are the days of a time zone`(name: String) async throws {
        let zone = try #require(TimeZone(identifier: name))
        let sample = try await SampleStore()
        try await sample.change { transaction in
            // Every 7 hours over two changes to and from summer time.
            for number in 0..<1300 {
                try transaction.addMessage(
                    number, in: 1, position: Int64(number + 1),
                    sentAt: 1_735_689_600_000 + Int64(number) * 7 * 3_600_000 - 1)
            }
            try transaction.addMessage(9999, in: 1, position: 9999)
        }
        var calendar = Foundation.Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let set = try await sample.first(Query<Message>(sections: { .day($0.sentAt, zone) }))
        for section in set.sections {
            for message in section.elements {
                let day = message.sentAt.map { sentAt in
                    calendar.dateComponents([.year, .month, .day], from: sentAt)
                }
                let key = day.map { day in
                    SectionKey.day(year: day.year ?? 0, month: day.month ?? 0, day: day.day ?? 0)
                }
                #expect(section.key == key ?? .missing)
            }
        }
        #expect(Set(set.sections.map(\.key)).count == set.sections.count)
        #expect(set.sections.last?.key == .missing)
        #expect(set.elements.count == 1301)
    }

    @Test func `have the elements of one value, in the order of the query`() async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            for (number, sender) in (["ann", nil, "bob", "ann", nil] as [UserID?]).enumerated() {
                try transaction.addMessage(
                    number, in: 1, position: Int64(number + 1), sender: sender, service: "News",
                    isUnread: number > 2)
            }
        }
        let bySender = try await sample.first(
            Query<Message>(sections: { .value($0.sender.userID) }))
        #expect(bySender.sections.map(\.key) == [.text("ann"), .missing, .text("bob")])
        #expect(
            bySender.sections.map { section in section.elements.map(\.id) }
                == [[0, 3], [1, 4], [2]].map { numbers in numbers.map(messageID) })
        #expect(bySender[ResultIndex(section: 1, item: 1)].id == messageID(4))
        let byUnread = try await sample.first(Query<Message>(sections: { .value($0.isUnread) }))
        #expect(byUnread.sections.map(\.key) == [.flag(false), .flag(true)])
        let byConversation = try await sample.first(
            Query<Message>(sections: { .value($0.conversation) }))
        #expect(byConversation.sections.map(\.key) == [.text(conversationID(1).description)])
        let byPosition = try await sample.first(
            Query<Message>(sections: { .value($0.position) }, limit: 2))
        #expect(byPosition.sections.map(\.key) == [.number(1), .number(2)])
    }

    @Test func `are absent when they are empty (K64)`() async throws {
        let sample = try await SampleStore()
        #expect(try await sample.first(Query<Message>()).sections.isEmpty)
        try await sample.change { transaction in try transaction.addMessage(1, in: 1, position: 1) }
        #expect(try await sample.first(Query<Message>()).sections.map(\.key) == [nil])
    }
}

extension SampleStore {
    /// The first set of a live query.
    func first<Element>(
        _ query: Query<Element>, _ window: Window = .all
    ) async throws -> ResultSet<Element> {
        var sets = runner.results(query, window: window, updating: nil).makeAsyncIterator()
        return try await sets.next() ?? ResultSet()
    }
}
