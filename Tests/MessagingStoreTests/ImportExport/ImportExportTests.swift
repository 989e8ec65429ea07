import Messaging
import SQL
import SystemSupport
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `Exporting and importing an application` {
    @Test(arguments: TestRounds.seeds(2, of: 4), [100, 3])
    func `X10: an exported and imported application has the same rows`(
        seed: UInt64, wideAbove limit: Int
    ) async throws {
        var run = try await ModelRun(seed: seed, wideAbove: limit)
        for _ in 1...300 { try await run.step() }
        let lines = try await run.sample.exportedLines()
        let copy = try await SampleApplication(
            opening: run.application, isEmpty: true, limits: run.store.limits)
        try await copy.importLines(lines)
        #expect(try await copy.exportedLines() == lines)
        try await copy.expectSameRowsAgain("seed \(seed)")
        for sample in [run.sample, copy] { try await sample.deleteUnexportedRows() }
        // Earlier states belong to the log.
        let left = Set([
            "schema_migrations", "events", "log_positions", "wide_stays", "unfollowed", "touched",
        ])
        .union(Transaction.historyTables.map(\.name.description))
        let rows = try await run.sample.rows(except: left)
        #expect(try await copy.rows(except: left) == rows, "seed \(seed)")
    }

    @Test func `X10: an application with every kind of object is imported completely`() async throws
    {
        let sample = try await SampleApplication()
        try await sample.recordEveryKindOfEvent()
        let lines = try await sample.exportedLines()
        let copy = try await SampleApplication(opening: sample.application, isEmpty: true)
        try await copy.importLines(lines)
        let again = try await copy.exportedLines()
        for (line, other) in zip(lines, again) { #expect(line == other) }
        #expect(again.count == lines.count)
        try await copy.expectSameRowsAgain()
    }

    @Test func `X10: the same import again changes nothing`() async throws {
        let sample = try await SampleApplication()
        try await sample.recordEveryKindOfEvent()
        let lines = try await sample.exportedLines()
        let copy = try await SampleApplication(opening: sample.application, isEmpty: true)
        try await copy.importLines(lines)
        let rows = try await copy.rows()
        let outcomes = try await copy.importLines(lines)
        #expect(Set(outcomes) == [.present])
        #expect(try await copy.rows() == rows)
    }

    @Test(arguments: [0.1, 0.3, 0.5, 0.7, 0.9])
    func `X10: an interrupted import continues when it is repeated`(share: Double) async throws {
        var run = try await ModelRun(seed: 9, wideAbove: 3)
        for _ in 1...120 { try await run.step() }
        let lines = try await run.sample.exportedLines()
        let copy = try await SampleApplication(opening: run.application, isEmpty: true)
        try await copy.importLines(Array(lines.prefix(Int(Double(lines.count) * share))))
        try await copy.importLines(lines)
        #expect(try await copy.exportedLines() == lines)
    }

    @Test func `X1: distinct conversations of both servers are merged`() async throws {
        let (here, there) = try await twoServers()
        let (winner, loser) = (here.conversation, there.conversation)
        let outcomes = try await here.sample.importLines(try await there.sample.exportedLines())
        #expect(outcomes.contains(.merged))
        #expect(
            try await here.sample.store.conversation(loser, in: here.sample.application)
                .conversation.id == winner)
        #expect(
            try await here.sample.texts(of: winner) == ["there 2", "here 2", "there 1", "here 1"])
        let sent = try await here.sample.send("later", to: loser).object.message
        #expect(sent.conversation == winner)
        let rows = try await here.sample.rows()
        let again = try await here.sample.importLines(try await there.sample.exportedLines())
        #expect(Set(again) == [.present])
        #expect(try await here.sample.rows() == rows)
        try await here.sample.expectSameRowsAgain()
    }

    @Test func `X1: later messages of the other server are merged in their order`() async throws {
        let (here, there) = try await twoServers()
        try await here.sample.importLines(try await there.sample.exportedLines())
        there.sample.tick()
        try await there.sample.send("there 3", to: there.conversation)
        try await here.sample.importLines(try await there.sample.exportedLines())
        #expect(
            try await here.sample.texts(of: here.conversation)
                == ["there 3", "there 2", "here 2", "there 1", "here 1"])
        try await here.sample.expectSameRowsAgain()
    }

    @Test func `ruling 12: a message deleted here stays deleted`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let message = try await sample.send(to: conversation).object.message.id
        let lines = try await sample.exportedLines()
        try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        let rows = try await sample.rows()
        #expect(Set(try await sample.importLines(lines)) == [.present])
        #expect(try await sample.rows() == rows)
    }

    @Test func `X10: an invalid record rolls back its transaction`() async throws {
        let sample = try await SampleApplication()
        let message = Message(
            id: .sample(1), conversation: .sample(2), position: Position(1), sender: .user(.ana),
            sentAt: Timestamp(milliseconds: 1),
            parts: [MessagePart(id: .sample(3), index: 0, mimeType: "a/b", body: .inline([1]))])
        let rows = try await sample.rows()
        let steps: [ImportStep] = [
            .record(.relations(ArchivedRelations(.ana, followed: [.bo]))),
            .record(.message(ArchivedMessage(message, places: [nil]))),
        ]
        await #expect(
            throws: RejectedImportStep(
                step: 1,
                lineError: ArchiveLineError(
                    "conversation", "must be on an earlier line, or exist here"))
        ) {
            try await sample.store.importRecords(steps, in: sample.application)
        }
        #expect(try await sample.rows() == rows)
    }

    @Test func `X10: an application created by an import takes the exported name`()
        async throws
    {
        let sample = try await SampleApplication()
        let elsewhere = Application(
            id: sample.application, name: "Elsewhere", createdAt: Timestamp(milliseconds: 1),
            sessionLifetime: 3600)
        #expect(try await sample.store.importApplication(elsewhere) == .imported)
        #expect(try await sample.store.application(sample.application) == elsewhere)
        #expect(try await sample.store.importApplication(elsewhere) == .present)
        try await sample.expectSameRowsAgain()
        try await sample.send(to: try await sample.conversation())
        let other = Application(
            id: sample.application, name: "Other", createdAt: elsewhere.createdAt)
        #expect(try await sample.store.importApplication(other) == .present)
        #expect(try await sample.store.application(sample.application) == elsewhere)
    }

    @Test func `X6: imported records are not delivered to webhooks`() async throws {
        let sample = try await SampleApplication()
        try await sample.send(to: try await sample.conversation())
        let copy = try await SampleApplication(opening: sample.application, isEmpty: true)
        try await copy.importLines(try await sample.exportedLines())
        let delivered = Set(WebhookTopic.allCases.flatMap(\.types))
        #expect(try await delivered.isDisjoint(with: copy.events().map(\.event.type)))
    }

    private struct TestServer {
        let sample: SampleApplication
        let conversation: Conversation.ID
    }

    /// Two servers with the same application, on each of which two messages were sent, in turn.
    private func twoServers() async throws -> (here: TestServer, there: TestServer) {
        let here = try await SampleApplication()
        let there = try await SampleApplication(opening: here.application)
        there.wait(milliseconds: 1)
        let servers = [
            (
                "here",
                TestServer(
                    sample: here,
                    conversation: try await here.create(isDistinct: true).object.conversation.id)
            ),
            (
                "there",
                TestServer(
                    sample: there,
                    conversation: try await there.create(isDistinct: true).object.conversation.id)
            ),
        ]
        for number in 1...2 {
            for (name, server) in servers {
                server.sample.tick()
                try await server.sample.send("\(name) \(number)", to: server.conversation)
            }
        }
        return (servers[0].1, servers[1].1)
    }
}

extension SampleApplication {
    /// The exported lines of the application.
    func exportedLines() async throws -> [ArchiveLine] {
        let lines = Locked<[ArchiveLine]>([])
        try await store.forEachLine(of: application) { line in
            lines.withLock { lines in lines.append(line) }
        }
        return lines.withLock { lines in lines }
    }

    /// Imports lines, `count` per transaction.
    @discardableResult
    func importLines(_ lines: [ArchiveLine], atOnce count: Int = 7) async throws -> [ImportOutcome]
    {
        var outcomes: [ImportOutcome] = []
        var steps: [ImportStep] = []
        var open: ArchivedConversation?
        for line in lines {
            switch line {
            case .application(let application):
                outcomes.append(try await store.importApplication(application))
            case .bytes: break
            case .record(let record):
                if case .message = record {
                } else {
                    if let open { steps.append(.sort(open.conversation.id)) }
                    open = nil
                }
                if case .conversation(let imported) = record { open = imported }
                steps.append(.record(record, of: open))
            }
        }
        if let open { steps.append(.sort(open.conversation.id)) }
        for some in steps.chunks(of: count) {
            outcomes += try await store.importRecords(
                some, in: application, sortingAtMost: count
            ).outcomes
        }
        return outcomes
    }

    /// Deletes what no export contains: the rows of deleted conversations, and the events of messages.
    func deleteUnexportedRows() async throws {
        try await database.write { [application] transaction in
            let deleted: SQL =
                """
                application = \(application) AND conversation IN (
                    SELECT id FROM conversations WHERE deleted_at IS NOT NULL
                )
                """
            try transaction.execute("/* test */ DELETE FROM messages WHERE \(deleted)")
            for column in [
                "messages SET event", "following SET event", "identities SET identity_event",
                "announcement_recipients SET event", "messages SET changed",
                "conversations SET changed",
            ] { try transaction.execute(SQL(stringLiteral: "/* test */ UPDATE \(column) = 0")) }
            try transaction.execute("/* test */ DELETE FROM hidden_messages WHERE \(deleted)")
            try transaction.execute(
                "/* test */ DELETE FROM parts WHERE message NOT IN (SELECT id FROM messages)")
            try transaction.execute(
                """
                /* test */ UPDATE conversations SET
                    is_distinct = 0, is_announced = 1, last_position = 0, last_sent_at = NULL,
                    message_count = 0, metadata = \(Metadata().columnBytes)
                WHERE deleted_at IS NOT NULL
                """)
        }
    }
}
