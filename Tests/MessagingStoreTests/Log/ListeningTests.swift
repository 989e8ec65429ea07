import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `Two processes at one server` {
    @Test func `wake each other's readers of the log`() async throws {
        let location = DatabaseLocation.server(PostgresServer.shared.newSchema())
        let writer = try await Shop(at: location)
        let reader = try await Shop(at: location, opening: writer.application)
        reader.store.listen()
        let before = try await writer.events().count
        let first = Task { [reader] in
            await reader.store.signal.wait(
                past: LogPosition(Int64(before)), in: reader.application)
        }
        try await writer.setLifetime(1)
        // However the two met: told, or found when listening began.
        #expect(await first.value == LogPosition(Int64(before + 1)))
        let second = Task { [reader] in
            await reader.store.signal.wait(
                past: LogPosition(Int64(before + 1)), in: reader.application)
        }
        try await writer.setLifetime(2)
        #expect(await second.value == LogPosition(Int64(before + 2)))
    }

    @Test func `wake each other's sender of scheduled messages`() async throws {
        let location = DatabaseLocation.server(PostgresServer.shared.newSchema())
        let accepting = try await Shop(at: location)
        let sending = try await Shop(at: location, opening: accepting.application)
        for shop in [accepting, sending] { shop.store.listen() }
        let conversation = try await accepting.conversation()
        let sender = sending.sender { milliseconds in sending.wait(milliseconds: milliseconds) }
        sender.start()
        // The first may have been found when listening began; the second is told of.
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

extension Shop {
    fileprivate func setLifetime(_ seconds: Int64) async throws {
        try await store.change(in: application) { recording in
            try recording.record(.sessionLifetimeSet(seconds: seconds))
        }
    }
}
