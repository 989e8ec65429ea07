import Messaging
import SQL
import SystemSupport
import Testing

@testable import MessagingStore

@Suite struct `Trimming the log` {
    @Test func `X3: old events are deleted, younger ones keep their positions`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for _ in 1...1200 { try await sample.send(to: conversation) }
        let end = try await sample.end()
        let young = sample.tick()
        try await sample.send("young", to: conversation)
        try await sample.store.trimLogs(before: young)
        #expect(
            try await sample.store.logExtent(in: sample.application)
                == LogExtent(trimmed: end, end: LogPosition(end.number + 1)))
        #expect(try await sample.events().map(\.position.number) == [end.number + 1])
        try await sample.send("next", to: conversation)
        #expect(try await sample.end().number == end.number + 2)
    }

    @Test func `X3: reading after a trimmed position is refused, after the last one allowed`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.conversation()
        let end = try await sample.end()
        try await sample.store.trimLogs(before: sample.tick())
        await #expect(throws: Rejection.positionGone(oldest: LogPosition(end.number + 1))) {
            try await sample.page(after: LogPosition(end.number - 1))
        }
        #expect(try await sample.page(after: end).events.isEmpty)
        #expect(try await sample.page(after: nil).through == end)
        let beyond = Rejection.invalid(
            "after", .logPositionBeyondEnd, .init(amount: Int(end.number)))
        await #expect(throws: beyond) {
            try await sample.page(after: LogPosition(end.number + 1))
        }
    }

    @Test func `events that a daily export still has to read are not trimmed`() async throws {
        let sample = try await SampleApplication()
        try await sample.store.setExportKey(ExportKey(pem: "-", der: [1]), in: sample.application)
        try await sample.conversation()
        let position = try await sample.end()
        _ = try await sample.store.setExportSchedule(.daily, [.messageSent], in: sample.application)
        try await sample.conversation()
        try await sample.store.trimLogs(before: sample.tick())
        #expect(try await sample.store.logExtent(in: sample.application).trimmed == position)
        sample.wait(milliseconds: 86_400_000)
        try await sample.store.requestDueExports()
        try await sample.store.trimLogs(before: sample.tick())
        #expect(try await sample.store.logExtent(in: sample.application).trimmed == position)
    }

    @Test func `earlier states of deleted objects are trimmed with the deletion`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let message = try await sample.send(to: conversation).object.message.id
        try await sample.store.recordReceipt(.read, of: message, by: .bo, in: sample.application)
        try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        try await sample.store.deleteConversation(conversation, in: sample.application)
        // The conversation before and after its creation, its participants, no receipts and the receipts,
        // the message.
        #expect(try await sample.historyCounts() == [6, 1])
        try await sample.store.trimLogs(before: sample.tick())
        #expect(try await sample.historyCounts() == [0, 0])
    }

    @Test func `maintenance runs repeatedly, also after a fault, until it is stopped`()
        async throws
    {
        let sample = try await SampleApplication()
        let (sleeps, sleepStarted) = AsyncStream.makeStream(of: Int64.self)
        let maintenance = StoreMaintenance(store: sample.store, retention: 1000) { milliseconds in
            sleepStarted.yield(milliseconds)
            await pause(milliseconds: 1)
        } onFault: { _ in
            sleepStarted.yield(-1)
        }
        sample.wait(milliseconds: 2000)
        maintenance.start()
        var nextSleep = sleeps.makeAsyncIterator()
        #expect(await nextSleep.next() == StoreMaintenance.interval)
        #expect(try await sample.store.logExtent(in: sample.application).trimmed == sample.end())
        sample.database.close()
        while await nextSleep.next() != -1 {}
        #expect(await nextSleep.next() == StoreMaintenance.interval)
        await maintenance.stop()
    }

    @Test func `maintenance without retention deletes no event`() async throws {
        let sample = try await SampleApplication()
        let maintenance = StoreMaintenance(store: sample.store, retention: 0) { _ in
        } onFault: { _ in
        }
        sample.wait(milliseconds: 2000)
        maintenance.start()
        await maintenance.stop()
        #expect(try await sample.store.logExtent(in: sample.application).trimmed == .start)
    }
}

extension SampleApplication {
    /// The number of earlier states and deleted messages stored for readers of the log.
    fileprivate func historyCounts() async throws -> [Int64] {
        try await database.read { transaction in
            try Transaction.historyTables.map { table in
                try transaction.first("/* test */ SELECT COUNT(*) FROM \(raw: table.name)") { row in
                    try row.int64(0)
                } ?? -1
            }
        }
    }

    @discardableResult
    fileprivate func page(after position: LogPosition?) async throws -> EventPage {
        try await store.eventPage(
            EventLogQuery(.ascending(after: position), limit: 10), in: application)
    }
}
