import Dispatch
import Messaging
import SQL
import SystemSupport
import Testing

@testable import MessagingStore

@Suite struct `Changes that share a commit` {
    private typealias Work = @Sendable (SampleApplication) async throws -> Void
    private static let trio = Conversation.ID.sample(1), pair = Conversation.ID.sample(2)

    @Test func `R26: leave what they leave one after the other`() async throws {
        let application = Application.ID.sample(9)
        let together = try await SampleApplication(opening: application)
        let apart = try await SampleApplication(opening: application)
        for sample in [together, apart] {
            try await sample.create([.ana, .bo, .cy], id: Self.trio)
            try await sample.create([.ana, .bo], id: Self.pair)
        }
        for work in Self.works { try? await work(apart) }
        let commits = together.database.statistics.commits
        try await together.share(Self.works)
        #expect(together.database.statistics.commits == commits + 2)
        // Parts have random ids, in their rows, in former states of messages, and in the events.
        let left: Set = ["schema_migrations", "parts", "events", "object_history"]
        #expect(try await together.rows(except: left) == apart.rows(except: left))
        #expect(try await together.events().map(\.position) == apart.events().map(\.position))
        try await together.expectSameRowsAgain()
    }

    /// Messages of three users to two conversations, and among them changes of their recipients, what
    /// fails, and what looks at what they have left.
    private static let works: [Work] = {
        var works: [Work] = (1...60).map { number in
            let user = [UserID.ana, .bo, .cy][number % 3]
            let place = number % 4 == 0 && user != .cy ? pair : trio
            let id = Message.ID.sample(UInt128(100 + number))
            return { sample in
                _ = try await sample.send("\(number)", by: user, to: place, id: id)
            }
        }
        let first = Message.ID.sample(101)
        works.insert({ try await $0.send(to: trio, id: .sample(105)) }, at: 7)
        works.insert({ try await $0.block(.bo, by: .ana) }, at: 12)
        works.insert({ try await $0.send(by: .named("stranger"), to: trio) }, at: 16)
        works.insert(
            { try await $0.store.deleteMessage(first, in: nil, in: $0.application) }, at: 20)
        works.insert(
            { try await $0.store.patchUser(.ana, [.unblock(.bo)], in: $0.application) }, at: 25)
        works.insert(
            {
                _ = try await $0.store.markAllRead(
                    upTo: nil, by: .cy, in: trio, in: $0.application)
            }, at: 30)
        works.insert({ try await $0.send(to: trio, id: .sample(900), key: .sample(901)) }, at: 33)
        works.insert({ try await $0.send(to: trio, id: .sample(902), key: .sample(901)) }, at: 36)
        works.insert({ try await $0.send(to: .sample(77)) }, at: 40)
        works.insert({ try await $0.send(to: trio, id: first) }, at: 44)
        return works
    }()
}

extension SampleApplication {
    /// Runs changes in this order, in one commit but for the one that holds the writer meanwhile.
    fileprivate func share(_ works: [@Sendable (SampleApplication) async throws -> Void])
        async throws
    {
        let gate = DispatchSemaphore(value: 0)
        let isHeld = Locked(false)
        async let holding: Void = database.write { transaction in
            try transaction.execute("UPDATE applications SET name = name")
            isHeld.withLock { $0 = true }
            gate.wait()
        }
        while !isHeld.withLock({ $0 }) { await Task.yield() }
        await withTaskGroup(of: Void.self) { group in
            for (index, work) in works.enumerated() {
                group.addTask { try? await work(self) }
                while database.waitingChanges <= index { await Task.yield() }
            }
            gate.signal()
        }
        try await holding
    }
}
