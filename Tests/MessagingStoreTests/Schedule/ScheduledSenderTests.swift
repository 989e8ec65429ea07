import Messaging
import SQL
import SystemSupport
import Testing

@testable import MessagingStore

@Suite struct `The sender of scheduled messages` {
    @Test func `sends messages that became due before its start`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.schedule(to: conversation)
        sample.wait(milliseconds: 60_000)
        let sender = sample.sender { _ in }
        let before = try #require(sample.store.signal.latest(in: sample.application))
        sender.start()
        _ = await sample.store.signal.wait(past: before, in: sample.application)
        await sender.stop()
        #expect(try await sample.texts(of: conversation) == ["later"])
    }

    @Test func `sleeps until the next message, and is woken for an earlier one`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let (sleeps, sleepStarted) = AsyncStream.makeStream(of: Int64.self)
        // A sleep of a second ends at once; longer ones end only when the sender is woken.
        let sender = sample.sender { milliseconds in
            sleepStarted.yield(milliseconds)
            if milliseconds == 1000 {
                sample.wait(milliseconds: 1000)
            } else {
                await pause(milliseconds: 3_600_000)
            }
        }
        try await sample.schedule("last", in: 50, to: conversation)
        sender.start()
        var nextSleep = sleeps.makeAsyncIterator()
        #expect(await nextSleep.next() == 50_000)
        try await sample.schedule("first", in: 1, to: conversation)
        #expect(await nextSleep.next() == 1000)
        #expect(await nextSleep.next() == 49_000)
        #expect(try await sample.texts(of: conversation) == ["first"])
        await sender.stop()
    }

    @Test func `is woken while it has nothing to send`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let (sleeps, sleepStarted) = AsyncStream.makeStream(of: Int64.self)
        let sender = sample.sender { milliseconds in
            sleepStarted.yield(milliseconds)
            if milliseconds == 60_000 {
                await pause(milliseconds: 3_600_000)
            } else {
                sample.wait(milliseconds: milliseconds)
            }
        }
        sender.start()
        // It looks every minute for messages of processes that did not notify it.
        #expect(await sleeps.first { _ in true } == 60_000)
        try await sample.schedule(in: 30, to: conversation)
        let before = try #require(sample.store.signal.latest(in: sample.application))
        _ = await sample.store.signal.wait(past: before, in: sample.application)
        await sender.stop()
        #expect(try await sample.texts(of: conversation) == ["later"])
    }

    @Test func `runs until it is stopped`() async throws {
        let sample = try await SampleApplication()
        let sender = sample.sender { _ in await pause(milliseconds: 3_600_000) }
        sender.start()
        await sender.stop()
        let conversation = try await sample.conversation()
        try await sample.schedule(to: conversation)
        #expect(try await sample.texts(of: conversation) == [])
    }

    @Test func `reports a failed query, and continues`() async throws {
        let sample = try await SampleApplication()
        let (faults, faultReported) = AsyncStream.makeStream(of: Message.ID?.self)
        let sender = ScheduledSender(
            store: sample.store, sleep: { milliseconds in sample.wait(milliseconds: milliseconds) },
            onFault: { _, id in faultReported.yield(id) })
        sample.database.close()
        sender.start()
        var fault = faults.makeAsyncIterator()
        #expect(await fault.next() == .some(nil))
        #expect(await fault.next() == .some(nil))
        await sender.stop()
    }
}
