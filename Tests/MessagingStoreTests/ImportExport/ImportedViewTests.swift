import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

/// A distinct conversation is imported whose participants already have one (X1, ruling 26), and some have deleted
/// one of the two from their own view.
@Suite struct `Imported views` {
    @Test(arguments: [true, false], [[true, false], [false, true], [true, true]])
    func `R16: a user who deleted a conversation sees all other messages after an import`(
        isImportedOneOlder: Bool, deletes: [Bool]
    ) async throws {
        let here = try await SampleApplication()
        let there = try await SampleApplication(opening: here.application)
        (isImportedOneOlder ? here : there).wait(milliseconds: 1)
        let names = ["here", "there"]
        var servers: [(sample: SampleApplication, id: Conversation.ID)] = []
        for sample in [here, there] {
            let created = try await sample.create(isDistinct: true).object
            servers.append((sample, created.conversation.id))
        }
        var seen: [UserID: [String]] = [:]
        // The messages of the two servers alternate in time; those of the older conversation come first.
        for round in 1...4 {
            for ((sample, id), name) in zip(servers, names) {
                sample.tick()
                try await sample.send("\(name) \(round)", by: .bo, to: id)
            }
            guard round == 2 else { continue }
            for ((sample, id), isDeleted) in zip(servers, deletes) where isDeleted {
                try await sample.delete(id, .forMe, by: .ana)
            }
        }
        for round in (1...4).reversed() {
            let sent = Array(zip(names, deletes))
            for (name, isDeleted) in isImportedOneOlder ? sent : sent.reversed() {
                seen[.bo, default: []].append("\(name) \(round)")
                if round > 2 || !isDeleted { seen[.ana, default: []].append("\(name) \(round)") }
            }
        }
        let lines = try await there.exportedLines()
        let outcomes = try await here.importLines(lines)
        #expect(outcomes.count { outcome in outcome == .merged } == 1)
        let winner = try await here.read(servers[0].id).conversation.id
        #expect(winner == servers[isImportedOneOlder ? 1 : 0].id)
        for (user, texts) in seen {
            #expect(try await here.seen(winner, by: user).map(\.text) == texts)
            let view = try await here.view(of: winner, for: user)
            #expect(view.totalCount == Int64(texts.count))
            #expect(view.unreadCount == (user == .ana ? Int64(texts.count) : 0))
            #expect(view.lastMessage?.text == texts[0])
        }
        try await here.expectSettled(winner)
        let rows = try await here.rows()
        #expect(Set(try await here.importLines(lines)) == [.present])
        #expect(try await here.rows() == rows)
        try await here.expectSameRowsAgain()
        try await here.expectSameExportAgain()
    }

    @Test(arguments: TestRounds.seeds(12, of: 40))
    func `X1.3: users see after an import what they saw in both conversations, also after a replay`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed)
        var run = try await MergeRun(seed: seed)
        for _ in 1...50 { try await run.step() }
        let before = try await run.visibleStates()
        let lines = try await run.sample.exportedLines()
        let known = random.number(0...1)
        let sample = try await SampleApplication(opening: run.sample.application, isEmpty: true)
        try await sample.importLines(
            lines.filter { line in line.conversation != run.conversations[1 - known] })
        // Half of the imports stop anywhere, and are repeated.
        let stop = random.once(in: 2) ? random.number(0...lines.count) : 0
        let count = random.one(of: [1, 4, 16, 64])
        let outcomes =
            try await sample.importLines(Array(lines.prefix(stop)), atOnce: count)
            + sample.importLines(lines, atOnce: count)
        #expect(outcomes.count { outcome in outcome == .merged } == 1, "seed \(seed)")
        try await expect(sample, shows: before, of: run, "seed \(seed)")
        let rows = try await sample.rows()
        #expect(Set(try await sample.importLines(lines)) == [.present], "seed \(seed)")
        #expect(try await sample.rows() == rows, "seed \(seed)")
        try await sample.expectSameRowsAgain("seed \(seed)")
        try await sample.expectSameExportAgain("seed \(seed)")
    }

    @Test(arguments: TestRounds.seeds(6, of: 20))
    func `X1.3: a conversation that was merged on the other server keeps its views too`(
        seed: UInt64
    ) async throws {
        var run = try await MergeRun(seed: seed)
        for _ in 1...50 { try await run.step() }
        let before = try await run.visibleStates()
        let lines = try await run.sample.exportedLines()
        let winner = try await run.sample.reconcile(run.conversations[1])
        let merged = try await run.sample.exportedLines()
        let sample = try await SampleApplication(opening: run.sample.application, isEmpty: true)
        // Only the one that lost is known here; the record of the other names it as an alias.
        try await sample.importLines(lines.filter { line in line.conversation != winner })
        let outcomes = try await sample.importLines(merged)
        #expect(outcomes.contains(.merged), "seed \(seed)")
        try await expect(sample, shows: before, of: run, "seed \(seed)")
        #expect(Set(try await sample.importLines(merged)) == [.present], "seed \(seed)")
        try await sample.expectSameRowsAgain("seed \(seed)")
        try await sample.expectSameExportAgain("seed \(seed)")
    }

    @Test(arguments: TestRounds.seeds(6, of: 20))
    func `X10: a conversation that continued on both servers gains the messages of the other`(
        seed: UInt64
    ) async throws {
        var here = try await MergeRun(seed: seed)
        for _ in 1...25 { try await here.step() }
        try await here.sample.reconcile(here.conversations[1])
        var there = here
        there.sample = try await SampleApplication(
            opening: here.sample.application, isEmpty: true)
        let start = try await here.sample.exportedLines()
        try await there.sample.importLines(start)
        for _ in 1...25 { try await here.step() }
        for _ in 1...30 { try await there.step() }
        let known = try await here.sample.exportedLines().messages
        let lines = try await there.sample.exportedLines()
        try await here.sample.importLines(lines)
        // A message that was deleted here stays deleted.
        let deleted = start.messages.subtracting(known)
        let messages = try await here.sample.exportedLines().messages
        #expect(messages == known.union(lines.messages).subtracting(deleted), "seed \(seed)")
        for (user, state) in try await here.visibleState(of: here.conversations[0]) {
            let comment: Comment = "seed \(seed), \(user)"
            #expect(state.total == Int64(state.messages.count), comment)
            #expect(state.unread == Int64(state.messages.count { $0.isUnread == true }), comment)
            #expect(state.last == state.messages.last?.id, comment)
        }
        let rows = try await here.sample.rows()
        #expect(Set(try await here.sample.importLines(lines)) == [.present], "seed \(seed)")
        #expect(try await here.sample.rows() == rows, "seed \(seed)")
        try await here.sample.expectSameRowsAgain("seed \(seed)")
        try await here.sample.expectSameExportAgain("seed \(seed)")
        for _ in 1...20 { try await here.step() }
        try await here.sample.expectSameRowsAgain("seed \(seed), later")
    }

    @Test(arguments: TestRounds.seeds(6, of: 20))
    func
        `X10: messages of a file may come anywhere after their conversation, unless it was merged`(
            seed: UInt64
        ) async throws
    {
        var run = try await MergeRun(seed: seed)
        for _ in 1...40 { try await run.step() }
        let first = run.conversations[0]
        let before = try await run.visibleState(of: first)
        let lines = try await run.sample.exportedLines()
        var random = SeededGenerator(seed)
        let copy = try await SampleApplication(opening: run.sample.application, isEmpty: true)
        let own = lines.filter { line in line.conversation != run.conversations[1] }
        try await copy.importLines(own.messagesLast(&random))
        #expect(try await run.visibleState(of: first, in: copy) == before, "seed \(seed)")
        try await copy.expectSameRowsAgain("seed \(seed)")

        let winner = try await run.sample.reconcile(run.conversations[1])
        let merged = try await run.sample.exportedLines()
        guard merged.contains(where: { line in line.isMessage && line.conversation == winner })
        else { return }
        let other = try await SampleApplication(opening: run.sample.application, isEmpty: true)
        let error = await #expect(throws: RejectedImportStep.self) {
            try await other.importLines(merged.messagesLast(&random))
        }
        #expect(error?.lineError.field == "conversation", "seed \(seed)")
    }

    /// Expects that each user sees in the only conversation what they saw in both.
    private func expect(
        _ sample: SampleApplication, shows before: [[UserID: MergeRun.VisibleState]],
        of run: MergeRun, _ seed: String
    ) async throws {
        let winner = try await sample.read(run.conversations[0]).conversation.id
        let after = try await run.visibleState(of: winner, in: sample)
        for user in run.users {
            MergeRun.expect(
                after[user], shows: before.compactMap { states in states[user] }, "\(seed), \(user)"
            )
        }
        try await sample.expectSettled(winner, "\(seed)")
    }
}

extension ArchiveLine {
    /// The conversation that the line describes or whose message it is.
    fileprivate var conversation: Conversation.ID? {
        switch self {
        case .record(.conversation(let archived)): archived.conversation.id
        case .record(.message(let archived)): archived.message.conversation
        default: nil
        }
    }

    fileprivate var isMessage: Bool {
        guard case .record(.message) = self else { return false }
        return true
    }
}

extension [ArchiveLine] {
    /// The messages that the lines describe.
    fileprivate var messages: Set<Message.ID> {
        Set(
            compactMap { line in
                guard case .record(.message(let archived)) = line else { return nil }
                return archived.message.id
            })
    }

    /// All other lines, a user once more, and then the messages in any order.
    fileprivate func messagesLast(_ random: inout SeededGenerator) -> [ArchiveLine] {
        filter { line in !line.isMessage } + [self[1]]
            + filter(\.isMessage).shuffled(using: &random)
    }
}

extension SampleApplication {
    /// Expects that sorting a merged conversation again changes neither positions nor views, and that the next
    /// message is not sent before the last one.
    fileprivate func expectSettled(_ id: Conversation.ID, _ comment: Comment? = nil) async throws {
        let rows = try await rows()
        #expect(try await store.sortMessages(of: id, in: application) == false, comment)
        #expect(try await self.rows() == rows, comment)
        let (conversation, times) = try await database.read { [application] transaction in
            let conversation = try transaction.conversation(id, in: application)
            let times = try transaction.rows(
                """
                SELECT sent_at FROM messages
                WHERE application = \(application) AND conversation = \(conversation.id)
                ORDER BY position
                """
            ) { row in try row.timestamp(0) }
            return (conversation, times)
        }
        #expect(times == times.sorted(), comment)
        if let last = times.last, let time = conversation.lastSentAt {
            #expect(last <= time, comment)
        }
    }

    /// Expects that an import of the exported lines into an empty server exports the same lines.
    fileprivate func expectSameExportAgain(_ comment: Comment? = nil) async throws {
        let lines = try await exportedLines()
        let copy = try await SampleApplication(opening: application, isEmpty: true)
        try await copy.importLines(lines)
        #expect(try await copy.exportedLines() == lines, comment)
    }
}
