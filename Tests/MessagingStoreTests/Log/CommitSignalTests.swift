import Glibc
import Messaging
import SQL
import SQLPostgres
import SystemSupport
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `A reader of the log` {
    @Test func `misses no event while two processes make slow and fast changes`() async throws {
        let folder = TemporaryFolder()
        let slow = try await SampleApplication(at: folder.database)
        let fast = try await SampleApplication(at: folder.database, opening: slow.application)
        let before = try await slow.events().count
        let isOver = Locked(false)
        let work = Task {
            defer { isOver.withLock { isOver in isOver = true } }
            async let slowly: Void = slow.change(times: 20, holding: 3000)
            async let quickly: Void = fast.change(times: 150, holding: 0)
            _ = try await (slowly, quickly)
        }
        var (position, seen, isRead) = (LogPosition.start, [Int64](), false)
        while !isRead {
            let wasOver = isOver.withLock { isOver in isOver }
            let events = try await fast.store.events(
                after: position, limit: 7, in: fast.application)
            seen += events.map(\.position.number)
            position = events.last?.position ?? position
            isRead = wasOver && events.isEmpty
        }
        try await work.value
        #expect(seen == Array(1...Int64(before + 170)))
    }
}

extension SampleApplication {
    /// Records events one after the other. Each change stays open for `pause` microseconds after it
    /// has its position.
    fileprivate func change(times count: Int, holding pause: UInt32) async throws {
        for number in 1...count {
            try await store.change(in: application) { context in
                try context.record(.sessionLifetimeSet(SessionLifetimeSet(seconds: Int64(number))))
                if pause > 0 { usleep(pause) }
            }
        }
    }
}

@Suite struct `Two processes on one PostgreSQL server` {
    @Test func `wake each other's readers of the log`() async throws {
        let location = DatabaseLocation.server(PostgresServer.shared.newSchema())
        let writer = try await SampleApplication(at: location)
        let reader = try await SampleApplication(at: location, opening: writer.application)
        reader.store.listen()
        let before = try await writer.events().count
        let first = Task { [reader] in
            await reader.store.signal.wait(
                past: LogPosition(Int64(before)), in: reader.application)
        }
        try await writer.setLifetime(1)
        // The commit is notified, or found when listening begins.
        #expect(await first.value == LogPosition(Int64(before + 1)))
        let second = Task { [reader] in
            await reader.store.signal.wait(
                past: LogPosition(Int64(before + 1)), in: reader.application)
        }
        try await writer.setLifetime(2)
        #expect(await second.value == LogPosition(Int64(before + 2)))
    }

    @Test func `know the end of a log that nothing waits for once they listen again`() async throws
    {
        let location = DatabaseLocation.server(PostgresServer.shared.newSchema())
        let writer = try await SampleApplication(at: location)
        let reader = try await SampleApplication(at: location, opening: writer.application)
        try await writer.setLifetime(1)
        let end = try #require(try await writer.events().last?.position)
        // A reader that reads nothing at this moment waits afterwards, for events after what it has read.
        reader.store.listen()
        while reader.store.signal.latest(in: reader.application) != end {
            try await Task.sleep(for: .milliseconds(5))
        }
        let before = LogPosition(end.number - 1)
        #expect(await reader.store.signal.wait(past: before, in: reader.application) == end)
    }

    @Test func `wake each other's sender of scheduled messages`() async throws {
        let location = DatabaseLocation.server(PostgresServer.shared.newSchema())
        let accepting = try await SampleApplication(at: location)
        let sending = try await SampleApplication(at: location, opening: accepting.application)
        for sample in [accepting, sending] { sample.store.listen() }
        let conversation = try await accepting.conversation()
        let sender = sending.sender { milliseconds in sending.wait(milliseconds: milliseconds) }
        sender.start()
        // The first commit may have been found when listening began; the second is notified.
        for text in ["first", "second"] {
            let before = try #require(try await accepting.events().last?.position)
            try await accepting.schedule(text, in: 300, to: conversation)
            _ = await accepting.store.signal.wait(
                past: LogPosition(before.number + 1), in: accepting.application)
            #expect(try await accepting.texts(of: conversation).contains(text))
        }
        await sender.stop()
    }
}

extension SampleApplication {
    fileprivate func setLifetime(_ seconds: Int64) async throws {
        try await store.change(in: application) { context in
            try context.record(.sessionLifetimeSet(SessionLifetimeSet(seconds: seconds)))
        }
    }
}
