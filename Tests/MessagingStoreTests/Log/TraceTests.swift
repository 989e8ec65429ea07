import Messaging
import Testing

@testable import MessagingStore

@Suite struct `The trace of a request` {
    private static let trace = Trace(id: "0af7651916cd43dd8448eb211c80319c", flags: 0xFF)

    @Test func `stands with what it asked for, and with nothing else (X5)`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let traced = shop.store.within(Self.trace)
        let batch = [
            Message.Sending(try shop.draft("two")), Message.Sending(try shop.draft("three")),
        ]
        _ = try await traced.sendMessage(
            shop.draft("one"), to: conversation, in: shop.application)
        _ = try await traced.sendBatch(batch, to: conversation, in: shop.application)
        try await shop.send("four", to: conversation)
        let traces = try await shop.events().suffix(4).map(\.trace)
        #expect(traces == [Self.trace, Self.trace, Self.trace, nil])
        // Flags that mean nothing yet are not passed on.
        #expect(traces.first??.flags == 3)
    }

    @Test func `is that of what it has sent later (X5)`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        _ = try await shop.store.within(Self.trace).scheduleMessage(
            shop.draft("one"), to: conversation, for: Schedule(delay: 5000, typing: nil),
            in: shop.application)
        try await shop.schedule("two", to: conversation)
        try await shop.expectSameRowsAgain()
        try await shop.send(after: 5)
        let sent = try await shop.events().filter { recorded in
            recorded.event.kind == "message.sent"
        }
        #expect(sent.map(\.trace) == [Self.trace, nil])
    }

    @Test func `goes with the deliveries of what it asked for, and of a test (X5)`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        let webhook = try await shop.hook()
        try await shop.store.finishVerification(of: webhook, failure: nil, in: shop.application)
        let active = try await shop.store.toldWebhooks(in: shop.application)
        let end = try await shop.store.logExtent(in: shop.application).end
        _ = try await shop.store.within(Self.trace).sendMessage(
            shop.draft("one"), to: conversation, in: shop.application)
        try await shop.send("two", to: conversation)
        let told = try await shop.store.told(
            after: TellingPlace(after: end), to: [.v1_0: [.messageSent]], limit: 10,
            in: shop.application)
        func draft(_ event: ToldEvent) -> DeliveryDraft {
            DeliveryDraft(
                webhook: webhook.id, event: event.occurrence.id, type: "message.sent",
                position: event.position, conversation: nil, trace: event.trace, body: [1])
        }
        let isKept = try await shop.store.enqueue(
            told.events.map(draft), from: nil, to: told.next, for: active, in: shop.application)
        #expect(isKept)
        _ = try await shop.store.within(Self.trace).testDelivery(
            { webhook, event, _ in
                DeliveryDraft(
                    webhook: webhook.id, event: event, type: "webhook.test", position: nil,
                    conversation: nil, body: [2])
            }, of: webhook.id, in: shop.application)
        let due = try await shop.store.dueDeliveries(
            of: webhook.id, besides: [], limit: 10, in: shop.application)
        #expect(due.items.map(\.trace) == [Self.trace, nil, Self.trace])
        #expect(due.items.map(\.body) == [[1], [1], [2]])
    }
}
