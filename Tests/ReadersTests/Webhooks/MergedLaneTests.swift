import Messaging
import MessagingStore
import SystemSupport
import TestSupport
import Testing

@testable import Readers

/// Two conversations that are merged while deliveries are pending (X1.5, X6).
@Suite(.timeLimit(.minutes(15))) struct `A webhook of merged conversations` {
    private let fixture: WebhookFixture
    /// Whether the target accepts deliveries.
    private let isOpen = Locked(false)
    private let accepted = Locked<[TestWebhookTarget.ReceivedRequest]>([])
    private let receiver: TestWebhookTarget

    init() async throws {
        var settings = WebhookFixture.quick
        settings.schedule = RetrySchedule(waits: Array(repeating: 20, count: 10_000))
        fixture = try await WebhookFixture(settings)
        receiver = try TestWebhookTarget { [isOpen, accepted] connection, request, _ in
            guard isOpen.withLock({ $0 }) else {
                return connection.write("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
            }
            accepted.withLock { accepted in accepted.append(request) }
            return connection.write(TestWebhookTarget.noContent)
        }
    }

    private var texts: [String] { accepted.withLock { accepted in accepted.map(\.messageText) } }

    @Test func `continues in the order of the log, whichever conversation was sent first`()
        async throws
    {
        let webhook = try await fixture.activate(receiver.url, [.messageSent, .messageDeleted])
        let (loser, winner) = try await fixture.twoDistinctConversations()
        let first = try await fixture.send("l0", in: loser)
        try await fixture.send("w0", in: winner)
        try await fixture.send("l1", in: loser)
        try await fixture.send("w1", in: winner)
        try await expectSoon("both were attempted") {
            Set(receiver.requests.map(\.messageText)) == ["l0", "w0"]
        }
        #expect(try await fixture.sendable(of: webhook).map(\.conversation) == [loser, winner])
        #expect(try await fixture.store.reconcile(winner, in: fixture.application) == winner)
        #expect(try await fixture.sendable(of: webhook).map(\.conversation) == [winner])
        try await fixture.delete(first, in: loser)
        try await fixture.expect(5, .pending, of: webhook)
        isOpen.withLock { isOpen in isOpen = true }
        try await fixture.expect(5, .delivered, of: webhook)
        #expect(texts == ["l0", "w0", "l1", "w1", "l0"])
        #expect(receiver.requests.last?.field("layer-webhook-event-type") == "Message.deleted")
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test func `continues in the order of the log with unread events`() async throws {
        let webhook = try await fixture.activate(receiver.url, [.messageSent, .messageDeleted])
        let (loser, winner) = try await fixture.twoDistinctConversations()
        await fixture.close()
        let first = try await fixture.send("l0", in: loser)
        try await fixture.send("w0", in: winner)
        try await fixture.store.reconcile(winner, in: fixture.application)
        try await fixture.delete(first, in: winner)
        fixture.open()
        try await fixture.expect(3, .pending, of: webhook)
        #expect(try await fixture.sendable(of: webhook).map(\.conversation) == [winner])
        isOpen.withLock { isOpen in isOpen = true }
        try await fixture.expect(3, .delivered, of: webhook)
        #expect(texts == ["l0", "w0", "l0"])
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test func `replays finished deliveries among pending ones`() async throws {
        isOpen.withLock { isOpen in isOpen = true }
        let webhook = try await fixture.activate(receiver.url)
        let (loser, winner) = try await fixture.twoDistinctConversations()
        try await fixture.send("l0", in: loser)
        try await fixture.expect(1, .delivered, of: webhook)
        isOpen.withLock { isOpen in isOpen = false }
        try await fixture.send("w0", in: winner)
        try await fixture.expect(1, .pending, of: webhook)
        try await fixture.store.reconcile(winner, in: fixture.application)
        let over = try #require(try await fixture.deliveries(of: webhook, .delivered).first)
        #expect(over.conversation == loser)
        let again = try await fixture.store.retryDelivery(
            over.id, of: webhook.id, in: fixture.application)
        #expect(again.conversation == winner)
        #expect(again.nextAt == nil, "it waits for the first delivery")
        isOpen.withLock { isOpen in isOpen = true }
        try await fixture.expect(2, .delivered, of: webhook)
        #expect(texts == ["l0", "w0", "l0"])
        await fixture.close()
        #expect(fixture.reported == [])
    }
}

extension WebhookFixture {
    /// A distinct conversation, and an older one of the same participants as after an import, into which
    /// the first is merged by `reconcile`.
    fileprivate func twoDistinctConversations() async throws -> (
        loser: Conversation.ID, winner: Conversation.ID
    ) {
        let users = ["ana", "bo"].compactMap { UserID($0) }
        let loser = try await store.createConversation(
            Conversation.Draft(
                participants: users, isDistinct: true, metadata: nil, proposedID: nil),
            key: nil, in: application
        ).object.conversation
        let winner: Conversation.ID = .v7(
            at: loser.createdAt, random: UInt128.random(in: .min ... .max))
        try await store.addDistinctConversation(
            Conversation(
                id: winner, createdAt: Timestamp(milliseconds: loser.createdAt.milliseconds - 1000),
                participants: loser.participants, isDistinct: true, metadata: Metadata(),
                isAnnounced: true), in: application)
        return (loser.id, winner)
    }

    fileprivate func delete(_ message: Message.ID, in conversation: Conversation.ID) async throws {
        try await store.deleteMessage(message, in: conversation, in: application)
    }

    /// The deliveries that can be sent now, oldest first.
    fileprivate func sendable(of webhook: Webhook) async throws -> [WebhookDelivery] {
        try await deliveries(of: webhook, .pending).filter { delivery in delivery.nextAt != nil }
    }
}
