import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Webhook events` {
    @Test func `every kind of event has the topics of each version (webhooks 4_2)`()
        async throws
    {
        let sample = try await SampleApplication()
        var conversation: Conversation.ID = .sample(1)
        try await sample.expectWebhookEvents(
            first: [.conversationCreated], later: [.conversationCreated],
            "a conversation with metadata is one"
        ) { conversation = try await sample.conversation(metadata: ["a": "b"]) }
        var message: Message.ID = .sample(1)
        try await sample.expectWebhookEvents(first: [.messageSent], later: [.messageSent]) {
            message = try await sample.send(to: conversation).object.message.id
        }
        try await sample.expectWebhookEvents(first: [.messageDelivered], later: [.receiptCreated]) {
            try await sample.store.recordReceipt(
                .delivery, of: message, by: .bo, in: sample.application)
        }
        try await sample.expectWebhookEvents(first: [.messageRead], later: [.receiptCreated]) {
            try await sample.store.recordReceipt(
                .read, of: message, by: .bo, in: sample.application)
        }
        try await sample.expectWebhookEvents(first: [], later: [.messageUpdated, .partCreated]) {
            _ = try await sample.store.addPart(
                .text("more"), to: message, in: conversation, by: .system, in: sample.application)
        }
        try await sample.expectWebhookEvents(
            first: [.participantsChanged, .metadataChanged],
            later: [.participationCreated, .participationDeleted, .metadataChanged],
            "one request, and several events"
        ) {
            try await sample.patch(
                conversation, .addParticipant(.cy), .removeParticipant(.bo),
                .setMetadata(path: ["a"], "c"))
        }
        try await sample.expectWebhookEvents(first: [.messageDeleted], later: [.messageDeleted]) {
            try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        }
        try await sample.expectWebhookEvents(
            first: [.conversationDeleted], later: [.conversationDeleted]
        ) {
            try await sample.store.deleteConversation(conversation, in: sample.application)
        }
    }

    @Test func `objects deleted since have the same events (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        let start = try await sample.end()
        var inTime: [WebhookEvent] = []
        func readEvents() async throws {
            inTime += try await sample.webhookEvents(after: inTime.last?.position ?? start)
        }
        let users = [UserID.ana, .bo, .cy]
        let conversation = try await sample.conversation(users, metadata: ["a": "b"])
        try await readEvents()
        let message = try await sample.send(by: .ana, to: conversation).object.message.id
        try await sample.send(by: .bo, to: conversation)
        try await readEvents()
        for kind in [Receipts.Kind.delivery, .read] {
            try await sample.store.recordReceipts(
                kind, of: IntervalSet(1...2), by: .cy, in: conversation, in: sample.application)
            try await readEvents()
        }
        _ = try await sample.store.addPart(
            .text("more"), to: message, in: conversation, by: .system, in: sample.application)
        try await readEvents()
        try await sample.patch(conversation, .setMetadata(path: ["a"], "c"))
        try await readEvents()
        try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        try await readEvents()
        try await sample.store.deleteConversation(conversation, in: sample.application)
        try await readEvents()

        let late = try await sample.webhookEvents(after: start)
        #expect(late.map(\.id) == inTime.map(\.id))
        #expect(late.map(\.versions) == inTime.map(\.versions))
        for event in late {
            switch event.subject {
            case .message(let shown): #expect(shown.recipients.map(\.userID) == users)
            case .conversation(let shown): #expect(shown.participants.map(\.userID) == users)
            default: break
            }
        }
        func sent(_ events: [WebhookEvent]) -> [WebhookEvent.Subject] {
            events.filter { event in event.topic == .messageSent }.map(\.subject)
        }
        #expect(sent(late) == sent(inTime))
    }

    @Test func `a merge of two conversations is an event (X1_5)`() async throws {
        let sample = try await SampleApplication()
        try await sample.create(isDistinct: true)
        let arrived = try await sample.addDistinctConversation(7, createdAt: 1)
        try await sample.expectWebhookEvents(
            first: [.conversationMerged], later: [.conversationMerged]
        ) {
            try await sample.reconcile(arrived)
        }
        let third = try await sample.addDistinctConversation(
            8, createdAt: 2, metadata: Metadata(["a": "b"], at: Timestamp(milliseconds: 3)))
        try await sample.expectWebhookEvents(
            first: [.conversationMerged, .metadataChanged],
            later: [.conversationMerged, .metadataChanged],
            "a version without merge events reports the merged metadata"
        ) { try await sample.reconcile(third) }
    }

    @Test func `a scheduled message has an event when it is sent, a batch at once (webhooks 4_2)`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.expectNoWebhookEvents { try await sample.schedule(to: conversation) }
        try await sample.expectWebhookEvents(first: [.messageSent], later: [.messageSent]) {
            try await sample.send(after: 5)
        }
        let batch = [
            Message.BatchItem(try sample.draft("one")), Message.BatchItem(try sample.draft("two")),
        ]
        try await sample.expectWebhookEvents(
            first: [.messageSent, .messageSent], later: [.messageSent, .messageSent]
        ) { try await sample.batch(batch, to: conversation) }
    }

    @Test func `leaving is an event, deleting for oneself is not (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana, .bo)
        let conversation = try await sample.conversation([.ana, .bo, .cy])
        let message = try await sample.send(to: conversation).object.message.id
        try await sample.expectNoWebhookEvents {
            try await sample.store.deleteMessage(
                message, forAll: false, by: .bo, in: sample.application)
            try await sample.delete(conversation, .forMe, by: .bo)
        }
        try await sample.expectWebhookEvents(
            first: [.participantsChanged], later: [.participationDeleted]
        ) {
            try await sample.delete(conversation, .leaving, by: .ana)
        }
    }

    @Test func `messages of a blocked user are events, the block is not (webhooks 4_2)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.createUsers(.ana, .bo)
        let conversation = try await sample.conversation()
        try await sample.expectNoWebhookEvents { try await sample.block(.ana, by: .bo) }
        try await sample.expectWebhookEvents(first: [.messageSent], later: [.messageSent]) {
            try await sample.send(by: .ana, to: conversation)
        }
    }

    @Test
    func `announcements, notifications, identities and contents are no events (webhooks 4_2)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.createUsers(.cy)
        let conversation = try await sample.conversation()
        try await sample.expectNoWebhookEvents {
            try await sample.announceAndNotify()
            try await sample.createUsers(.named("gil"))
            try await sample.store.follow([.bo], by: .ana, in: sample.application)
            try await sample.upload(to: conversation)
        }
    }

    @Test func `a change without an effect is no event (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.create(isDistinct: true, metadata: ["a": "b"])
            .object.conversation.id
        let message = try await sample.send(to: conversation).object.message.id
        try await sample.store.recordReceipt(.read, of: message, by: .bo, in: sample.application)
        try await sample.expectNoWebhookEvents("changes to the same value") {
            try await sample.patch(
                conversation, .addParticipant(.ana), .removeParticipant(.cy),
                .setMetadata(path: ["a"], "b"))
            try await sample.create(isDistinct: true)
        }
        try await sample.expectNoWebhookEvents("a receipt that exists, or of the sender") {
            for kind in [Receipts.Kind.delivery, .read] {
                for user in [UserID.ana, .bo] {
                    try await sample.store.recordReceipt(
                        kind, of: message, by: user, in: sample.application)
                }
            }
        }
    }

    @Test func `a receipt covers messages of others, one event each in 1_0 (webhooks 4_2)`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for user in [UserID.ana, .bo, .ana] { try await sample.send(by: user, to: conversation) }
        try await sample.expectWebhookEvents(
            first: [.messageDelivered, .messageDelivered], later: [.receiptCreated]
        ) {
            try await sample.store.recordReceipts(
                .delivery, of: IntervalSet(1...3), by: .bo, in: conversation, in: sample.application
            )
        }
    }
}

extension SampleApplication {
    /// Expects the webhook events of an action for a subscription to all topics, in 1.0 and in later versions.
    fileprivate func expectWebhookEvents(
        first: [WebhookTopic], later: [WebhookTopic], _ why: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, of action: () async throws -> Void
    ) async throws {
        let end = try await store.logExtent(in: application).end
        try await action()
        let events = try await webhookEvents(after: end)
        for (isFirst, topics) in [(true, first), (false, later)] {
            let received = events.filter { $0.versions.contains(.v1_0) == isFirst }
            #expect(received.map(\.topic) == topics, why, sourceLocation: sourceLocation)
        }
    }

    /// The webhook events after a position for a subscription to all topics.
    fileprivate func webhookEvents(after position: LogPosition) async throws -> [WebhookEvent] {
        let all = Dictionary(
            uniqueKeysWithValues: WebhookVersion.allCases.map {
                ($0, Set(WebhookTopic.all(in: $0)))
            })
        return try await store.webhookEvents(
            after: WebhookCheckpoint(after: position), to: all, limit: 100, in: application
        ).events
    }

    fileprivate func expectNoWebhookEvents(
        _ why: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
        of action: () async throws -> Void
    ) async throws {
        try await expectWebhookEvents(
            first: [], later: [], why, sourceLocation: sourceLocation, of: action)
    }
}
