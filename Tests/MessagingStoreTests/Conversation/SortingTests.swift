import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

/// The steps that sort the messages of a merged conversation, and what happens between them.
@Suite struct `Sorting messages` {
    /// Adds messages to two distinct conversations alternately, and merges them without sorting.
    private func merged(
        _ count: Int, createdAt: Int64 = 5
    ) async throws -> (SampleApplication, Conversation.ID) {
        let sample = try await SampleApplication()
        let own = try await sample.create(isDistinct: true).object.conversation.id
        let other = try await sample.addDistinctConversation(7, createdAt: createdAt)
        for number in 0..<count {
            sample.tick()
            try await sample.send("\(number)", to: number % 2 == 0 ? own : other)
        }
        return (sample, try await sample.merge(other))
    }

    private func texts(_ numbers: some Sequence<Int>) -> [String] {
        numbers.map(String.init).reversed()
    }

    @Test(arguments: [1, 3, 100])
    func `X1.3: messages are in the order of sending after steps of any size`(
        limit: Int
    ) async throws {
        let (sample, id) = try await merged(12)
        let events = try await sample.kinds {
            try await sample.store.sortMessages(of: id, in: sample.application, atMost: limit)
        }
        #expect(Set(events) == ["conversation.merged"])
        #expect(events.count == (12 + limit - 1) / limit)
        #expect(try await sample.texts(of: id) == texts(0..<12))
        let rows = try await sample.rows()
        #expect(try await sample.store.sortMessages(of: id, in: sample.application) == false)
        #expect(try await sample.rows() == rows)
        try await sample.expectSameRowsAgain()
    }

    @Test(arguments: 0..<6, [5, 5_000_000] as [Int64])
    func `a sort that was interrupted after any step is continued without moving a message twice`(
        steps: Int, createdAt: Int64
    ) async throws {
        let (sample, id) = try await merged(12, createdAt: createdAt)
        var last = Position.start
        for _ in 0..<steps {
            guard let (sort, _) = try await sample.plan(id) else { break }
            _ = try await sample.take(sort, atMost: 2)
            let end = try await sample.read(id).conversation.lastPosition
            if last > .start { #expect(end == last, "positions were reserved once") }
            last = end
        }
        try await sample.store.sortInterrupted()
        #expect(try await sample.texts(of: id) == texts(0..<12))
        #expect(try await sample.plan(id) == nil)
        try await sample.expectSameRowsAgain()
    }

    @Test func `messages that are sent between steps stay last, and are not moved`() async throws {
        let (sample, id) = try await merged(8)
        var (sort, _) = try #require(try await sample.plan(id))
        sample.tick()
        try await sample.send("8", to: id)
        sort = try #require(try await sample.take(sort, atMost: 2)).rest
        sample.tick()
        let sent = try await sample.send("9", to: id).object.message
        var isSorted = false
        while !isSorted {
            (sort, isSorted) = try #require(try await sample.take(sort, atMost: 2))
        }
        #expect(try await sample.texts(of: id) == texts(0..<10))
        let now = try await sample.store.message(sent.id, in: id, in: sample.application).message
        #expect(now.position == sent.position)
        try await sample.expectSameRowsAgain()
    }

    @Test func `a sort is planned again when another one has moved its messages`() async throws {
        let (sample, id) = try await merged(8)
        let (sort, _) = try #require(try await sample.plan(id))
        let first = try #require(try await sample.take(sort, atMost: 2)).rest
        #expect(try await sample.take(sort, atMost: 2) == nil)
        let second = try #require(try await sample.plan(id)).0
        _ = try #require(try await sample.take(second, atMost: 2))
        #expect(try await sample.take(first, atMost: 2) == nil)
        try await sample.store.sortMessages(of: id, in: sample.application, atMost: 2)
        #expect(try await sample.texts(of: id) == texts(0..<8))
        try await sample.expectSameRowsAgain()
    }

    @Test func `another merge during a sort is sorted with the rest`() async throws {
        let (sample, id) = try await merged(8)
        let (sort, _) = try #require(try await sample.plan(id))
        let rest = try #require(try await sample.take(sort, atMost: 2)).rest
        let third = try await sample.addDistinctConversation(8, createdAt: 2)
        sample.tick()
        try await sample.send("8", to: third)
        let winner = try await sample.merge(third)
        #expect(winner == third && winner != id)
        #expect(try await sample.take(rest, atMost: 2) == nil)
        try await sample.store.sortMessages(of: winner, in: sample.application, atMost: 3)
        #expect(try await sample.texts(of: id) == texts(0..<9))
        try await sample.expectSameRowsAgain()
    }

    @Test func `a conversation that is deleted during a sort stays deleted`() async throws {
        let (sample, id) = try await merged(8)
        let (sort, _) = try #require(try await sample.plan(id))
        let rest = try #require(try await sample.take(sort, atMost: 2)).rest
        try await sample.store.deleteConversation(id, in: sample.application)
        #expect(try await sample.take(rest, atMost: 2) == nil)
        #expect(try await sample.store.sortMessages(of: id, in: sample.application) == false)
        await #expect(throws: Rejection.objectDeleted) { try await sample.read(id) }
        try await sample.expectSameRowsAgain()
    }

    @Test(arguments: TestRounds.seeds(12, of: 60), [100, 2])
    func `X1.3: users see the same messages after each step, whatever happens between steps`(
        seed: UInt64, wideAbove limit: Int
    ) async throws {
        var run = try await MergeRun(seed: seed, wideAbove: limit)
        var random = SeededGenerator(seed)
        for _ in 1...60 { try await run.step() }
        let winner = try await run.sample.merge(run.conversations[1])
        let comment: Comment = "seed \(seed)"
        var plan: MessageSort?
        for _ in 0..<200 {
            for _ in 0..<random.number(0...2) { try await run.step() }
            // A plan is lost when the process ends.
            if plan == nil || random.once(in: 4) {
                guard let (sort, _) = try await run.sample.plan(winner) else { break }
                plan = sort
            }
            guard let sort = plan else { break }
            let before = try await run.visibleState(of: winner)
            let next = try await run.sample.take(sort, atMost: random.number(1...4))
            let after = try await run.visibleState(of: winner)
            for user in run.users {
                // The order may differ.
                #expect(
                    after[user].map { MergeRun.VisibleState.merging([$0]) }
                        == before[user].map { MergeRun.VisibleState.merging([$0]) }, comment)
                #expect(after[user]?.last == after[user]?.messages.last?.id, comment)
            }
            plan = next.flatMap { rest, isSorted in isSorted || rest.isEmpty ? nil : rest }
        }
        try await run.sample.store.sortMessages(of: winner, in: run.sample.application)
        for (user, state) in try await run.visibleState(of: winner) {
            let times = state.messages.map(\.sentAt)
            #expect(times == times.sorted(), "seed \(seed), \(user)")
        }
        try await run.sample.expectSameRowsAgain(comment)
    }
}

extension SampleApplication {
    fileprivate func plan(_ id: Conversation.ID) async throws -> (sort: MessageSort, weight: Int)? {
        try await database.read { [application] transaction in
            try transaction.messageSort(of: id, in: application)
        }
    }

    fileprivate func take(
        _ sort: MessageSort, atMost limit: Int
    ) async throws -> (rest: MessageSort, isSorted: Bool)? {
        try await store.change(in: application) { context in
            try context.take(sort, atMost: limit)
        }
    }
}
