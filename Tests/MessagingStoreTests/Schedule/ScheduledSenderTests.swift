import Locking
import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `The sender of scheduled messages` {
    @Test func `it sends what became due before it began`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.schedule(to: conversation)
        shop.wait(milliseconds: 60_000)
        let sender = shop.sender { _ in }
        let before = try #require(shop.store.signal.latest(in: shop.application))
        sender.start()
        _ = await shop.store.signal.wait(past: before, in: shop.application)
        await sender.stop()
        #expect(try await shop.texts(of: conversation) == ["later"])
    }

    @Test func `it sleeps until the next, and is woken for an earlier one`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let (naps, told) = AsyncStream.makeStream(of: Int64.self)
        // A nap of a second passes at once; longer ones end only when somebody wakes the sender.
        let sender = shop.sender { milliseconds in
            told.yield(milliseconds)
            if milliseconds == 1000 {
                shop.wait(milliseconds: 1000)
            } else {
                await pause(milliseconds: 3_600_000)
            }
        }
        try await shop.schedule("last", in: 50, to: conversation)
        sender.start()
        var nap = naps.makeAsyncIterator()
        #expect(await nap.next() == 50_000)
        try await shop.schedule("first", in: 1, to: conversation)
        #expect(await nap.next() == 1000)
        #expect(await nap.next() == 49_000)
        #expect(try await shop.texts(of: conversation) == ["first"])
        await sender.stop()
    }

    @Test func `it is woken out of an idle sleep`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let sender = shop.sender { milliseconds in shop.wait(milliseconds: milliseconds) }
        sender.start()
        try await shop.schedule(in: 300, to: conversation)
        let before = try #require(shop.store.signal.latest(in: shop.application))
        _ = await shop.store.signal.wait(past: before, in: shop.application)
        await sender.stop()
        #expect(try await shop.texts(of: conversation) == ["later"])
    }

    @Test func `it ends when it is told to, and only then`() async throws {
        let shop = try await Shop()
        let sender = shop.sender { _ in await pause(milliseconds: 3_600_000) }
        sender.start()
        await sender.stop()
        let conversation = try await shop.conversation()
        try await shop.schedule(to: conversation)
        #expect(try await shop.texts(of: conversation) == [])
    }

    @Test func `it says when nobody can look, and goes on`() async throws {
        let shop = try await Shop()
        let (faults, told) = AsyncStream.makeStream(of: Message.ID?.self)
        let sender = ScheduledSender(
            store: shop.store, sleep: { milliseconds in shop.wait(milliseconds: milliseconds) },
            onFault: { _, id in told.yield(id) })
        shop.database.close()
        sender.start()
        var fault = faults.makeAsyncIterator()
        #expect(await fault.next() == .some(nil))
        #expect(await fault.next() == .some(nil))
        await sender.stop()
    }
}
