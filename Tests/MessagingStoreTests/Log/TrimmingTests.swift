import Locking
import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Trimming the log` {
    @Test func `X3: what is old goes, what is younger stays under its position`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        for _ in 1...1200 { try await shop.send(to: conversation) }
        let end = try await shop.end()
        let young = shop.tick()
        try await shop.send("young", to: conversation)
        try await shop.store.trimLogs(before: young)
        #expect(
            try await shop.store.logExtent(in: shop.application)
                == LogExtent(trimmed: end, end: LogPosition(end.number + 1)))
        #expect(try await shop.events().map(\.position.number) == [end.number + 1])
        try await shop.send("next", to: conversation)
        #expect(try await shop.end().number == end.number + 2)
    }

    @Test func `X3: a place before what is kept is gone, the one just before it is not`()
        async throws
    {
        let shop = try await Shop()
        try await shop.conversation()
        let end = try await shop.end()
        try await shop.store.trimLogs(before: shop.tick())
        await #expect(throws: Rejection.positionGone(oldest: LogPosition(end.number + 1))) {
            try await shop.page(after: LogPosition(end.number - 1))
        }
        #expect(try await shop.page(after: end).events.isEmpty)
        #expect(try await shop.page(after: nil).through == end)
        let beyond = Rejection.invalid(
            "after", .logPositionBeyondEnd, .init(amount: Int(end.number)))
        await #expect(throws: beyond) {
            try await shop.page(after: LogPosition(end.number + 1))
        }
    }

    @Test func `nothing goes that a daily export has still to tell of`() async throws {
        let shop = try await Shop()
        try await shop.store.setExportKey(ExportKey(pem: "-", der: [1]), in: shop.application)
        try await shop.conversation()
        let place = try await shop.end()
        _ = try await shop.store.setExportSchedule(.daily, [.messageSent], in: shop.application)
        try await shop.conversation()
        try await shop.store.trimLogs(before: shop.tick())
        #expect(try await shop.store.logExtent(in: shop.application).trimmed == place)
        shop.wait(milliseconds: 86_400_000)
        try await shop.store.requestDueExports()
        try await shop.store.trimLogs(before: shop.tick())
        #expect(try await shop.store.logExtent(in: shop.application).trimmed == place)
    }

    @Test func `what was deleted is forgotten with the event that tells of it`() async throws {
        let shop = try await Shop()
        let talk = try await shop.conversation()
        let message = try await shop.send(to: talk).object.message.id
        try await shop.store.recordReceipt(.read, of: message, by: .bo, in: shop.application)
        try await shop.store.deleteMessage(message, in: nil, in: shop.application)
        try await shop.store.deleteConversation(talk, in: shop.application)
        // No conversation and the conversation, its participants, no receipts and the receipts, the message.
        #expect(try await shop.historyCounts() == [6, 1])
        try await shop.store.trimLogs(before: shop.tick())
        #expect(try await shop.historyCounts() == [0, 0])
    }

    @Test func `a trimmer looks again and again, also after a fault, until it is told to stop`()
        async throws
    {
        let shop = try await Shop()
        let (naps, told) = AsyncStream.makeStream(of: Int64.self)
        let trimmer = LogTrimmer(store: shop.store, retention: 1000) { milliseconds in
            told.yield(milliseconds)
            await pause(milliseconds: 1)
        } onFault: { _ in
            told.yield(-1)
        }
        shop.wait(milliseconds: 2000)
        trimmer.start()
        var nap = naps.makeAsyncIterator()
        #expect(await nap.next() == LogTrimmer.interval)
        #expect(try await shop.store.logExtent(in: shop.application).trimmed == shop.end())
        shop.database.close()
        while await nap.next() != -1 {}
        #expect(await nap.next() == LogTrimmer.interval)
        await trimmer.stop()
    }

    @Test func `a trimmer that keeps everything does nothing`() async throws {
        let shop = try await Shop()
        let trimmer = LogTrimmer(store: shop.store, retention: 0) { _ in
        } onFault: { _ in
        }
        shop.wait(milliseconds: 2000)
        trimmer.start()
        await trimmer.stop()
        #expect(try await shop.store.logExtent(in: shop.application).trimmed == .start)
    }
}

extension Shop {
    /// How many former states and deleted messages are kept for readers of the log.
    fileprivate func historyCounts() async throws -> [Int64] {
        try await database.read { transaction in
            try Transaction.historyTables.map { table in
                try transaction.first("SELECT COUNT(*) FROM \(raw: table.name)") { row in
                    try row.int64(0)
                } ?? -1
            }
        }
    }

    @discardableResult
    fileprivate func page(after place: LogPosition?) async throws -> EventPage {
        try await store.eventPage(after: place, limit: 10, in: application)
    }
}
