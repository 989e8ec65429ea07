import Messaging
import Observation
import SQL
import SystemSupport
import TestSupport
import Testing

@testable import ParleyKit

@Suite struct `Live queries` {
    private static let here = conversationID(1)
    private static let there = conversationID(2)

    /// A filter that counts how often its query is run.
    private static func counting<Element>(
        _ runs: Locked<Int>, _ filter: Filter<Element>
    ) -> Filter<Element> {
        filter
            && Filter(
                .test(fixing: nil) { _ in
                    runs.withLock { runs in runs += 1 }
                    return "1"
                })
    }

    @Test func `yield the current set, and one after each change (K60)`() async throws {
        let sample = try await SampleStore()
        try await sample.send(1, in: 1)
        let query = Query<Message>(where: { $0.conversation == Self.here })
        var sets = sample.runner.results(query, window: .all, updating: nil).makeAsyncIterator()
        let first = try #require(try await sets.next())
        #expect(first.elements.map(\.id) == [messageID(1)])
        #expect(first.changes == [.insertSection(0), .insert(ResultIndex(section: 0, item: 0))])
        try await sample.send(2, in: 1)
        let second = try #require(try await sets.next())
        #expect(second.elements.map(\.id) == [messageID(1), messageID(2)])
        #expect(second.changes == [.insert(ResultIndex(section: 0, item: 1))])
        try await sample.change([.messages], in: [Self.here]) { transaction in
            try transaction.sql.execute(
                "UPDATE messages SET is_unread = 1 WHERE id = \(messageID(1).value.bytes)")
        }
        let third = try #require(try await sets.next())
        #expect(third.changes == [.update(ResultIndex(section: 0, item: 0))])
    }

    @Test(arguments: [([Store.Table.messages, .conversations], there), ([.conversations], here)])
    func `run again only after commits that concern them (K61)`(
        tables: [Store.Table], conversation: Conversation.ID
    ) async throws {
        let sample = try await SampleStore()
        try await sample.send(1, in: 1)
        let runs = Locked(0)
        let query = Query<Message>(where: { Self.counting(runs, $0.conversation == Self.here) })
        var sets = sample.runner.results(query, window: .all, updating: nil).makeAsyncIterator()
        _ = try await sets.next()
        let task = Task { [sets] in
            var sets = sets
            return try await sets.next()
        }
        for _ in 1...20 {
            try await sample.change(tables, in: [conversation]) { _ in }
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(runs.withLock { $0 } == 1)
        try await sample.send(10, in: 1)
        #expect(try await task.value?.elements.count == 2)
        #expect(runs.withLock { $0 } == 2)
    }

    @Test func `yield nothing for a commit that changes nothing they hold (K60)`() async throws {
        let sample = try await SampleStore()
        for number in 1...5 { try await sample.send(number, in: 1) }
        let runs = Locked(0)
        let query = Query<Message>(
            where: { Self.counting(runs, $0.conversation == Self.here) }, limit: 2)
        var sets = sample.runner.results(query, window: .all, updating: nil).makeAsyncIterator()
        _ = try await sets.next()
        try await sample.send(6, in: 1)
        let task = Task { [sets] in
            var sets = sets
            return try await sets.next()
        }
        while runs.withLock({ $0 }) < 2 { try await Task.sleep(for: .milliseconds(1)) }
        try await sample.change([.messages], in: [Self.here]) { transaction in
            try transaction.sql.execute(
                "UPDATE messages SET is_hidden = 1 WHERE id = \(messageID(2).value.bytes)")
        }
        let set = try #require(try await task.value)
        #expect(set.elements.map(\.id) == [messageID(1), messageID(3)])
        #expect(
            set.changes == [
                .delete(ResultIndex(section: 0, item: 1)),
                .insert(ResultIndex(section: 0, item: 1)),
            ])
    }

    @Test func `count updates only in the properties that were asked for (K62)`() async throws {
        let sample = try await SampleStore()
        try await sample.send(1, in: 1)
        let query = Query<Message>()
        var sets = sample.runner.results(query, window: .all, updating: ["isUnread"])
            .makeAsyncIterator()
        _ = try await sets.next()
        let task = Task { [sets] in
            var sets = sets
            return try await sets.next()
        }
        for column: Change in [.sentAt, .isUnread] {
            try await sample.change([.messages], in: [Self.here]) { transaction in
                try transaction.sql.execute(column.setOne)
            }
            try await Task.sleep(for: .milliseconds(30))
        }
        let set = try #require(try await task.value)
        #expect(set.elements.first?.isUnread == true)
        #expect(set.changes == [.update(ResultIndex(section: 0, item: 0))])
    }

    @Test func `give a slow reader the newest set, and changes from the one before (K60)`()
        async throws
    {
        let sample = try await SampleStore()
        try await sample.send(1, in: 1)
        let runs = Locked(0)
        let query = Query<Message>(where: { Self.counting(runs, $0.conversation == Self.here) })
        var sets = sample.runner.results(query, window: .all, updating: nil).makeAsyncIterator()
        _ = try await sets.next()
        for number in 2...100 { try await sample.send(number, in: 1) }
        let set = try #require(try await sets.next())
        #expect(set.elements.count == 100)
        #expect(set.changes.count == 99)
        #expect(runs.withLock { $0 } == 2)
    }

    @Test func `yield at most one set per 16 ms (K60)`() async throws {
        let sample = try await SampleStore()
        try await sample.send(0, in: 1)
        let query = Query<Message>(where: { $0.conversation == Self.here })
        let sets = sample.runner.results(query, window: .last(5), updating: nil)
        let start = ContinuousClock.now
        let reader = Task {
            var number = 0
            for try await set in sets {
                number += 1
                if set.elements.last?.id == messageID(300) { break }
            }
            return number
        }
        for number in 1...300 { try await sample.send(number, in: 1) }
        let number = try await reader.value
        #expect(number <= 2 + Int((ContinuousClock.now - start) / .milliseconds(16)))
    }

    @Test func `go on after a merge (K23)`() async throws {
        let sample = try await SampleStore()
        try await sample.send(1, in: 1)
        let query = Query<Message>(where: { $0.conversation == Self.here })
        var sets = sample.runner.results(query, window: .all, updating: nil).makeAsyncIterator()
        _ = try await sets.next()
        try await sample.send(2, in: 2)
        let renamed = ObjectChange(
            object: .conversation(Self.there), kind: .renamed(from: .conversation(Self.here)))
        try await sample.change([.messages], in: [Self.there], noting: renamed) { transaction in
            try transaction.alias(1, to: 2)
            try transaction.sql.execute(
                """
                UPDATE messages SET conversation = \(Self.there.value.bytes), position = 7, place = 7
                WHERE id = \(messageID(1).value.bytes)
                """)
        }
        let merged = try #require(try await sets.next())
        #expect(merged.elements.map(\.id) == [messageID(2), messageID(1)])
        try await sample.send(9, in: 2)
        #expect(try await sets.next()?.elements.count == 3)
    }

    @Test func `follow their conversation when it is hidden and shown`() async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in try transaction.addConversation(1) }
        try await sample.send(1, in: 1)
        let query = Query<Message>(where: { $0.conversation == Self.here })
        var sets = sample.runner.results(query, window: .all, updating: nil).makeAsyncIterator()
        #expect(try await sets.next()?.total == 1)
        for (isHidden, kind) in [(true, ObjectChange.Kind.deleted), (false, .created)] {
            let change = ObjectChange(object: .conversation(Self.here), kind: kind)
            try await sample.change(noting: change) { transaction in
                try transaction.sql.execute(
                    "/* test */ UPDATE conversations SET is_hidden = \(isHidden)")
            }
            #expect(try await sets.next()?.elements.count == (isHidden ? 0 : 1))
        }
    }

    @Test func `widen the last elements by those that arrive behind them (K63)`() async throws {
        let sample = try await SampleStore()
        for number in 1...10 { try await sample.send(number, in: 1) }
        let query = Query<Message>(where: { $0.conversation == Self.here })
        var sets = sample.runner.results(query, window: .last(3), updating: nil).makeAsyncIterator()
        #expect(try await sets.next()?.elements.map(\.id) == [8, 9, 10].map(messageID))
        try await sample.send(11, in: 1)
        #expect(try await sets.next()?.elements.map(\.id) == [8, 9, 10, 11].map(messageID))
        for number in 12...40 { try await sample.send(number, in: 1) }
        let set = try #require(try await sets.next())
        #expect(set.elements.map(\.id) == (8...40).map(messageID))
        #expect(set.total == 40)
        #expect(set.changes.count == 29)
    }

    @Test func `are up to date if no message inside the window is missing (K13, K63)`() async throws
    {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            try transaction.addConversation(1)
            for position in [1, 2, 5, 6, 7, 10] {
                try transaction.addMessage(position, in: 1, position: Int64(position))
            }
            try transaction.setHeld("1-2,5-7,9-10", top: 10, of: 1)
        }
        let query = Query<Message>(where: { $0.conversation == Self.here })
        #expect(try await sample.first(query).isUpToDate == false)
        #expect(try await sample.first(query, .last(1)).isUpToDate)
        // Position 8 is missing, position 9 was deleted.
        #expect(try await sample.first(query, .last(2)).isUpToDate == false)
        #expect(try await sample.first(query, .first(2)).isUpToDate)
        #expect(try await sample.first(query, .first(3)).isUpToDate == false)
        let newest = Query<Message>(
            where: { $0.conversation == Self.here },
            sort: { columns in
                Message.naturalOrder(columns).map { sort in
                    Sort(
                        expression: sort.expression, isDescending: true,
                        isUniqueInConversation: true)
                }
            })
        #expect(try await sample.first(newest, .first(1)).isUpToDate)
        #expect(try await sample.first(newest, .first(2)).isUpToDate == false)
        #expect(try await sample.first(Query<Message>()).isUpToDate)
        sample.missing.withLock { missing in missing = [] }
        _ = try await sample.first(query, .last(50))
        #expect(sample.missing.withLock { $0 } == [IntervalSet([3...4, 8...8])])
    }

    @Test func `miss only as many positions as the window can take`() async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            try transaction.addConversation(1)
            for position in 91...95 {
                try transaction.addMessage(position, in: 1, position: Int64(position))
            }
            try transaction.setHeld("91-95", top: 100, of: 1)
        }
        let query = Query<Message>(where: { $0.conversation == Self.here })
        let missing: [(Window, IntervalSet)] = [
            (.last(3), IntervalSet(96...100)), (.last(7), IntervalSet([89...90, 96...100])),
            (.first(3), IntervalSet(1...90)), (.first(7), IntervalSet([1...90, 96...97])),
            (.all, IntervalSet([1...90, 96...100])),
        ]
        for (window, positions) in missing {
            sample.missing.withLock { missing in missing = [] }
            #expect(try await sample.first(query, window).isUpToDate == false)
            #expect(sample.missing.withLock { $0 } == [positions])
        }
        let unread = Query<Message>(where: { $0.conversation == Self.here && $0.isUnread == true })
        sample.missing.withLock { missing in missing = [] }
        _ = try await sample.first(unread, .last(4))
        #expect(sample.missing.withLock { $0 } == [IntervalSet(97...100)])
    }

    @Test func `end when the store is closed, and when the task is cancelled`() async throws {
        let sample = try await SampleStore()
        let sets = sample.runner.results(Query<Message>(), window: .all, updating: nil)
        let received = Locked(0)
        let reader = Task {
            for try await _ in sets { received.withLock { number in number += 1 } }
        }
        let other = Task {
            var number = 0
            for try await _ in sets { number += 1 }
            return number
        }
        try await eventually("the reader has the first set") { received.withLock { $0 } == 1 }
        other.cancel()
        #expect(try await other.value <= 1)
        sample.store.close()
        try await reader.value
        #expect(received.withLock { $0 } == 1)
        await #expect(throws: ParleyError.closed) {
            _ = try await sample.runner.fetch(Query<Message>())
        }
    }

    @Test @MainActor func `are observable on the main actor`() async throws {
        let sample = try await SampleStore()
        for number in 1...5 { try await sample.send(number, in: 1) }
        let live = LiveResults(
            Query<Message>(where: { $0.conversation == Self.here }), in: sample.runner,
            window: .last(2))
        func wait(until isDone: @escaping @MainActor () -> Bool) async {
            while !isDone() {
                await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                    withObservationTracking {
                        _ = live.results
                    } onChange: {
                        continuation.resume()
                    }
                }
                await Task.yield()
            }
        }
        await wait { live.results.total == 5 }
        #expect(live.results.elements.map(\.id) == [4, 5].map(messageID))
        try await sample.send(6, in: 1)
        await wait { live.results.total == 6 }
        #expect(live.results.elements.map(\.id) == [4, 5, 6].map(messageID))
        live.window = .last(5)
        await wait { live.results.elements.count == 5 }
        #expect(
            live.results.changes == [
                .insert(ResultIndex(section: 0, item: 0)),
                .insert(ResultIndex(section: 0, item: 1)),
            ])
        live.query = Query(where: { $0.invalid })
        while live.error == nil { await Task.yield() }
        #expect(live.error?.code == .invalidMessage)
        #expect(live.results.elements.count == 5)
        live.query = Query()
        await wait { live.results.elements.map(\.id) == (2...6).map(messageID) }
        #expect(live.error == nil)
    }
}

private enum Change {
    case sentAt, isUnread

    var setOne: SQL {
        switch self {
        case .sentAt: "/* test */ UPDATE messages SET sent_at = 1"
        case .isUnread: "/* test */ UPDATE messages SET is_unread = 1"
        }
    }
}

extension SampleStore {
    /// Stores a message, and publishes the commit.
    func send(_ number: Int, in conversation: Int) async throws {
        try await change([.messages], in: [conversationID(conversation)]) { transaction in
            try transaction.addMessage(number, in: conversation, position: Int64(number))
            try transaction.addPart(0, of: number, body: "\(number)")
        }
    }
}

extension Message.Columns {
    /// A filter whose query throws.
    fileprivate var invalid: Filter<Message> {
        Filter(.test(fixing: nil) { _ in throw ParleyError(.invalidMessage, "A test.") })
    }
}

extension StoreTransaction {
    /// Stores the positions whose messages are here, and the highest position as the feed has it.
    fileprivate func setHeld(_ held: String, top: Int64, of number: Int) throws {
        let base = """
            {"id":"\(conversationID(number))","created_at":"2026-01-01T00:00:00.000Z","participants":[],
            "distinct":false,"metadata":{},"last_message":null,"unread_message_count":0,
            "total_message_count":9,"aliases":[],"top":\(top),"window_from":1,"cleared_to":0}
            """
        try sql.execute(
            """
            UPDATE conversations SET held = \(held), base = \(Array(base.utf8))
            WHERE id = \(conversationID(number).value.bytes)
            """)
    }
}
