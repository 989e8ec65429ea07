import Messaging
import Testing

@testable import MessagingStore

@Suite struct `The trace of a request` {
    private static let trace = Trace(id: "0af7651916cd43dd8448eb211c80319c", flags: 0xFF)

    @Test func `is stored with the events of its request only (X5)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let traced = sample.store.within(Self.trace)
        let batch = [
            Message.BatchItem(try sample.draft("two")),
            Message.BatchItem(try sample.draft("three")),
        ]
        _ = try await traced.sendMessage(
            sample.draft("one"), to: conversation, in: sample.application)
        _ = try await traced.sendBatch(batch, to: conversation, in: sample.application)
        try await sample.send("four", to: conversation)
        let traces = try await sample.events().suffix(4).map(\.trace)
        #expect(traces == [Self.trace, Self.trace, Self.trace, nil])
        // Undefined flags are not stored.
        #expect(traces.first??.flags == 3)
    }

    @Test func `is stored with a scheduled message that it sent (X5)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        _ = try await sample.store.within(Self.trace).scheduleMessage(
            sample.draft("one"), to: conversation, for: Schedule(delay: 5000, typing: nil),
            in: sample.application)
        try await sample.schedule("two", to: conversation)
        try await sample.expectSameRowsAgain()
        try await sample.send(after: 5)
        let sent = try await sample.events().filter { recorded in
            recorded.event.type == .messageSent
        }
        #expect(sent.map(\.trace) == [Self.trace, nil])
    }

    @Test func `is stored with the deliveries of its events and of a test (X5)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let webhook = try await sample.registerWebhook()
        try await sample.store.finishVerification(of: webhook, failure: nil, in: sample.application)
        let active = try await sample.store.webhookSubscriptions(in: sample.application)
        let end = try await sample.store.logExtent(in: sample.application).end
        _ = try await sample.store.within(Self.trace).sendMessage(
            sample.draft("one"), to: conversation, in: sample.application)
        try await sample.send("two", to: conversation)
        let range = try await sample.store.webhookEvents(
            after: WebhookCheckpoint(after: end), to: [.v1_0: [.messageSent]], limit: 10,
            in: sample.application)
        func draft(_ event: WebhookEvent) -> DeliveryDraft {
            DeliveryDraft(
                webhook: webhook.id, event: event.id, type: "message.sent",
                position: event.position, conversation: nil, trace: event.trace, body: [1])
        }
        let isEnqueued = try await sample.store.enqueue(
            range.events.map(draft), from: nil, to: range.next, for: active, in: sample.application)
        #expect(isEnqueued)
        _ = try await sample.store.within(Self.trace).testDelivery(
            { webhook, event, _ in
                DeliveryDraft(
                    webhook: webhook.id, event: event, type: "webhook.test", position: nil,
                    conversation: nil, body: [2])
            }, of: webhook.id, in: sample.application)
        let due = try await sample.store.dueDeliveries(
            of: webhook.id, besides: [], limit: 10, in: sample.application)
        #expect(due.items.map(\.trace) == [Self.trace, nil, Self.trace])
        #expect(due.items.map(\.body) == [[1], [1], [2]])
    }
}
