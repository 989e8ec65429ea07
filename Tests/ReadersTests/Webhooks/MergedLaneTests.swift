import Messaging
import MessagingStore
import SystemSupport
import TestSupport
import Testing

@testable import Readers

/// Two conversations that are merged while webhooks are behind (X1.5, X6).
@Suite(.timeLimit(.minutes(15))) struct `A webhook of merged conversations` {
    private let office: WebhookFixture
    /// Whether the target accepts deliveries.
    private let isOpen = Locked(false)
    private let taken = Locked<[TestWebhookTarget.ReceivedRequest]>([])
    private let receiver: TestWebhookTarget

    init() async throws {
        var settings = WebhookFixture.quick
        settings.schedule = RetrySchedule(waits: Array(repeating: 20, count: 10_000))
        office = try await WebhookFixture(settings)
        receiver = try TestWebhookTarget { [isOpen, taken] connection, hit, _ in
            guard isOpen.withLock({ $0 }) else {
                return connection.write("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
            }
            taken.withLock { taken in taken.append(hit) }
            return connection.write(TestWebhookTarget.taken)
        }
    }

    private var words: [String] { taken.withLock { taken in taken.map(\.words) } }

    @Test func `continues in the order of the log, whichever conversation was sent first`()
        async throws
    {
        let webhook = try await office.activate(receiver.url, [.messageSent, .messageDeleted])
        let (loser, winner) = try await office.twins()
        let first = try await office.say("l0", in: loser)
        try await office.say("w0", in: winner)
        try await office.say("l1", in: loser)
        try await office.say("w1", in: winner)
        try await expectSoon("both are tried") {
            Set(receiver.hits.map(\.words)) == ["l0", "w0"]
        }
        #expect(try await office.firsts(of: webhook).map(\.conversation) == [loser, winner])
        #expect(try await office.store.settle(winner, in: office.application) == winner)
        #expect(try await office.firsts(of: webhook).map(\.conversation) == [winner])
        try await office.delete(first, in: loser)
        try await office.expect(5, .pending, of: webhook)
        isOpen.withLock { isOpen in isOpen = true }
        try await office.expect(5, .delivered, of: webhook)
        #expect(words == ["l0", "w0", "l1", "w1", "l0"])
        #expect(receiver.hits.last?.field("layer-webhook-event-type") == "Message.deleted")
        await office.close()
        #expect(office.reported == [])
    }

    @Test func `continues in the order of the log with unread events`() async throws {
        let webhook = try await office.activate(receiver.url, [.messageSent, .messageDeleted])
        let (loser, winner) = try await office.twins()
        await office.close()
        let first = try await office.say("l0", in: loser)
        try await office.say("w0", in: winner)
        try await office.store.settle(winner, in: office.application)
        try await office.delete(first, in: winner)
        office.open()
        try await office.expect(3, .pending, of: webhook)
        #expect(try await office.firsts(of: webhook).map(\.conversation) == [winner])
        isOpen.withLock { isOpen in isOpen = true }
        try await office.expect(3, .delivered, of: webhook)
        #expect(words == ["l0", "w0", "l0"])
        await office.close()
        #expect(office.reported == [])
    }

    @Test func `replays finished deliveries among pending ones`() async throws {
        isOpen.withLock { isOpen in isOpen = true }
        let webhook = try await office.activate(receiver.url)
        let (loser, winner) = try await office.twins()
        try await office.say("l0", in: loser)
        try await office.expect(1, .delivered, of: webhook)
        isOpen.withLock { isOpen in isOpen = false }
        try await office.say("w0", in: winner)
        try await office.expect(1, .pending, of: webhook)
        try await office.store.settle(winner, in: office.application)
        let over = try #require(try await office.deliveries(of: webhook, .delivered).first)
        #expect(over.conversation == loser)
        let again = try await office.store.retryDelivery(
            over.id, of: webhook.id, in: office.application)
        #expect(again.conversation == winner)
        #expect(again.nextAt == nil, "it waits behind the first")
        isOpen.withLock { isOpen in isOpen = true }
        try await office.expect(2, .delivered, of: webhook)
        #expect(words == ["l0", "w0", "l0"])
        await office.close()
        #expect(office.reported == [])
    }
}

extension WebhookFixture {
    /// A distinct conversation, and an older one of the same participants as an import brings it: the one
    /// takes the other in as soon as it is settled.
    fileprivate func twins() async throws -> (loser: Conversation.ID, winner: Conversation.ID) {
        let users = ["ana", "bo"].compactMap { UserID($0) }
        let loser = try await store.createConversation(
            Conversation.Draft(
                participants: users, isDistinct: true, metadata: nil, proposedID: nil),
            key: nil, in: application
        ).object.conversation
        let winner: Conversation.ID = .v7(
            at: loser.createdAt, random: UInt128.random(in: .min ... .max))
        try await store.placeBeside(
            Conversation(
                id: winner, createdAt: Timestamp(milliseconds: loser.createdAt.milliseconds - 1000),
                participants: loser.participants, isDistinct: true, metadata: Metadata(),
                isAnnounced: true), in: application)
        return (loser.id, winner)
    }

    fileprivate func delete(_ message: Message.ID, in conversation: Conversation.ID) async throws {
        try await store.deleteMessage(message, in: conversation, in: application)
    }

    /// The deliveries that may be sent, oldest first.
    fileprivate func firsts(of webhook: Webhook) async throws -> [WebhookDelivery] {
        try await deliveries(of: webhook, .pending).filter { delivery in delivery.nextAt != nil }
    }
}
