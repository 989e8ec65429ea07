import Dispatch
import Messaging
import SQL
import SystemSupport
import Testing

@testable import MessagingStore

@Suite struct `Changes that share a commit` {
    private typealias Change = @Sendable (SampleApplication) async throws -> Void
    private static let groupOfThree = Conversation.ID.sample(1)
    private static let groupOfTwo = Conversation.ID.sample(2)

    @Test func `R26: have the same result as one after the other`() async throws {
        let application = Application.ID.sample(9)
        let together = try await SampleApplication(opening: application)
        let apart = try await SampleApplication(opening: application)
        for sample in [together, apart] {
            try await sample.create([.ana, .bo, .cy], id: Self.groupOfThree)
            try await sample.create([.ana, .bo], id: Self.groupOfTwo)
        }
        for change in Self.changes { try? await change(apart) }
        let commits = together.database.statistics.commits
        try await together.runInOneCommit(Self.changes)
        #expect(together.database.statistics.commits == commits + 2)
        // Parts have random ids, in their rows, in earlier states of messages and in events.
        let left: Set = ["schema_migrations", "parts", "events", "object_history"]
        #expect(try await together.rows(except: left) == apart.rows(except: left))
        #expect(try await together.events().map(\.position) == apart.events().map(\.position))
        try await together.expectSameRowsAgain()
    }

    /// Messages of three users to two conversations, mixed with changes of their recipients, failing
    /// changes, and changes that read earlier ones.
    private static let changes: [Change] = {
        var changes: [Change] = (1...60).map { number in
            let user = [UserID.ana, .bo, .cy][number % 3]
            let conversation = number % 4 == 0 && user != .cy ? groupOfTwo : groupOfThree
            let id = Message.ID.sample(UInt128(100 + number))
            return { sample in
                _ = try await sample.send("\(number)", by: user, to: conversation, id: id)
            }
        }
        let first = Message.ID.sample(101)
        changes.insert({ try await $0.send(to: groupOfThree, id: .sample(105)) }, at: 7)
        changes.insert({ try await $0.block(.bo, by: .ana) }, at: 12)
        changes.insert({ try await $0.send(by: .named("outsider"), to: groupOfThree) }, at: 16)
        changes.insert(
            { try await $0.store.deleteMessage(first, in: nil, in: $0.application) }, at: 20)
        changes.insert(
            { try await $0.store.patchUser(.ana, [.unblock(.bo)], in: $0.application) }, at: 25)
        changes.insert(
            {
                _ = try await $0.store.markAllRead(
                    upTo: nil, by: .cy, in: groupOfThree, in: $0.application)
            }, at: 30)
        changes.insert(
            { try await $0.send(to: groupOfThree, id: .sample(900), key: .sample(901)) }, at: 33)
        changes.insert(
            { try await $0.send(to: groupOfThree, id: .sample(902), key: .sample(901)) }, at: 36)
        changes.insert({ try await $0.send(to: .sample(77)) }, at: 40)
        changes.insert({ try await $0.send(to: groupOfThree, id: first) }, at: 44)
        let meetings: [[UserID]] = [
            [.ana, .bo, .cy], [.cy, .bo], [.ana, .bo, .cy], [.bo, .named("dee")],
        ]
        for (index, users) in meetings.enumerated() {
            let id = Conversation.ID.sample(UInt128(600 + index))
            changes.insert({ try await $0.create(users, id: id) }, at: 42)
            changes.insert(
                { try await $0.store.unfollow(.bo, by: .cy, in: $0.application) }, at: 46)
            changes.insert(
                { try await $0.store.follow([.named("dee")], by: .ana, in: $0.application) }, at: 50
            )
        }
        for (index, change) in otherChanges.enumerated() {
            changes.insert(change, at: 8 + 2 * index)
        }
        return changes
    }()

    /// Receipts, and changes of metadata, parts and messages, each between messages of the same conversation.
    private static let otherChanges: [Change] = {
        var changes: [Change] = []
        for number in 1...6 {
            let message = Message.ID.sample(UInt128(101 + number))
            for reader in [UserID.ana, .cy, .bo] {
                changes.append {
                    try await $0.store.recordReceipt(
                        number % 2 == 0 ? .delivery : .read, of: message, by: reader,
                        in: $0.application)
                }
            }
            changes.append {
                try await $0.patch(groupOfThree, .setMetadata(path: ["\(number)"], .text("x")))
            }
            changes.append {
                _ = try await $0.store.addPart(
                    .text("\(number)"), to: message, in: nil, by: .system, in: $0.application)
            }
            changes.append {
                try await $0.create(
                    [.ana, .named("new \(number)")], isDistinct: number > 2,
                    id: .sample(UInt128(500 + number / 2)))
            }
            changes.append {
                try await $0.store.changeParts(
                    .replace(.index(0), .text("new")), of: message, in: groupOfThree, by: .system,
                    in: $0.application)
            }
            if number > 3 {
                changes.append {
                    try await $0.store.deleteMessage(message, in: nil, in: $0.application)
                }
            }
        }
        return changes
    }()
}

extension SampleApplication {
    /// Runs changes in this order in one commit, after a change that blocks the writer meanwhile.
    func runInOneCommit(
        _ changes: [@Sendable (SampleApplication) async throws -> Void],
        ignoringFailures: Bool = true
    ) async throws {
        let gate = DispatchSemaphore(value: 0)
        let isHeld = Locked(false)
        async let holding: Void = database.write { transaction in
            try transaction.execute("UPDATE applications SET name = name")
            isHeld.withLock { $0 = true }
            gate.wait()
        }
        while !isHeld.withLock({ $0 }) { await Task.yield() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, change) in changes.enumerated() {
                group.addTask {
                    do { try await change(self) } catch  where ignoringFailures {}
                }
                while database.waitingChanges <= index { await Task.yield() }
            }
            gate.signal()
            try await group.waitForAll()
        }
        try await holding
    }
}
