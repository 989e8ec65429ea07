import Messaging
import Testing

@testable import MessagingStore

@Suite struct `What receivers hear of` {
    @Test func `every kind of event, in the form of their version (webhooks 4_2)`()
        async throws
    {
        let sample = try await SampleApplication()
        var talk: Conversation.ID = .sample(1)
        try await sample.expectHeard(
            first: [.conversationCreated], later: [.conversationCreated],
            "a conversation with metadata is one"
        ) { talk = try await sample.conversation(metadata: ["a": "b"]) }
        var message: Message.ID = .sample(1)
        try await sample.expectHeard(first: [.messageSent], later: [.messageSent]) {
            message = try await sample.send(to: talk).object.message.id
        }
        try await sample.expectHeard(first: [.messageDelivered], later: [.receiptCreated]) {
            try await sample.store.recordReceipt(
                .delivery, of: message, by: .bo, in: sample.application)
        }
        try await sample.expectHeard(first: [.messageRead], later: [.receiptCreated]) {
            try await sample.store.recordReceipt(
                .read, of: message, by: .bo, in: sample.application)
        }
        try await sample.expectHeard(first: [], later: [.messageUpdated, .partCreated]) {
            _ = try await sample.store.addPart(
                .text("more"), to: message, in: talk, by: .system, in: sample.application)
        }
        try await sample.expectHeard(
            first: [.participantsChanged, .metadataChanged],
            later: [.participationCreated, .participationDeleted, .metadataChanged],
            "one request, and several events"
        ) {
            try await sample.patch(
                talk, .addParticipant(.cy), .removeParticipant(.bo),
                .setMetadata(path: ["a"], "c"))
        }
        try await sample.expectHeard(first: [.messageDeleted], later: [.messageDeleted]) {
            try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        }
        try await sample.expectHeard(first: [.conversationDeleted], later: [.conversationDeleted]) {
            try await sample.store.deleteConversation(talk, in: sample.application)
        }
    }

    @Test func `the same events for objects that were deleted since (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        let start = try await sample.end()
        var inTime: [WebhookEvent] = []
        func hear() async throws {
            inTime += try await sample.told(after: inTime.last?.position ?? start)
        }
        let users = [UserID.ana, .bo, .cy]
        let talk = try await sample.conversation(users, metadata: ["a": "b"])
        try await hear()
        let message = try await sample.send(by: .ana, to: talk).object.message.id
        try await sample.send(by: .bo, to: talk)
        try await hear()
        for kind in [Receipts.Kind.delivery, .read] {
            try await sample.store.recordReceipts(
                kind, of: IntervalSet(1...2), by: .cy, in: talk, in: sample.application)
            try await hear()
        }
        _ = try await sample.store.addPart(
            .text("more"), to: message, in: talk, by: .system, in: sample.application)
        try await hear()
        try await sample.patch(talk, .setMetadata(path: ["a"], "c"))
        try await hear()
        try await sample.store.deleteMessage(message, in: nil, in: sample.application)
        try await hear()
        try await sample.store.deleteConversation(talk, in: sample.application)
        try await hear()

        let late = try await sample.told(after: start)
        #expect(late.map(\.id) == inTime.map(\.id))
        #expect(late.map(\.versions) == inTime.map(\.versions))
        for told in late {
            switch told.subject {
            case .message(let shown): #expect(shown.recipients.map(\.userID) == users)
            case .conversation(let shown): #expect(shown.participants.map(\.userID) == users)
            default: break
            }
        }
        func sent(_ told: [WebhookEvent]) -> [WebhookEvent.Subject] {
            told.filter { event in event.topic == .messageSent }.map(\.subject)
        }
        #expect(sent(late) == sent(inTime))
    }

    @Test func `two conversations that become one (X1_5)`() async throws {
        let sample = try await SampleApplication()
        try await sample.create(isDistinct: true)
        let arrived = try await sample.bring(7, createdAt: 1)
        try await sample.expectHeard(first: [.conversationMerged], later: [.conversationMerged]) {
            try await sample.settle(arrived)
        }
        let third = try await sample.bring(
            8, createdAt: 2, metadata: Metadata(["a": "b"], at: Timestamp(milliseconds: 3)))
        try await sample.expectHeard(
            first: [.conversationMerged, .metadataChanged],
            later: [.conversationMerged, .metadataChanged],
            "a version without merge events reports the merged metadata"
        ) { try await sample.settle(third) }
    }

    @Test func `a scheduled message when it is sent, and a batch at once (webhooks 4_2)`()
        async throws
    {
        let sample = try await SampleApplication()
        let talk = try await sample.conversation()
        try await sample.expectNothingHeard { try await sample.schedule(to: talk) }
        try await sample.expectHeard(first: [.messageSent], later: [.messageSent]) {
            try await sample.send(after: 5)
        }
        let batch = [
            Message.BatchItem(try sample.draft("one")), Message.BatchItem(try sample.draft("two")),
        ]
        try await sample.expectHeard(
            first: [.messageSent, .messageSent], later: [.messageSent, .messageSent]
        ) { try await sample.batch(batch, to: talk) }
    }

    @Test func `leaving, but not what a user deletes for themselves (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        try await sample.know(.ana, .bo)
        let talk = try await sample.conversation([.ana, .bo, .cy])
        let message = try await sample.send(to: talk).object.message.id
        try await sample.expectNothingHeard {
            try await sample.store.deleteMessage(
                message, forAll: false, by: .bo, in: sample.application)
            try await sample.delete(talk, .forMe, by: .bo)
        }
        try await sample.expectHeard(first: [.participantsChanged], later: [.participationDeleted])
        {
            try await sample.delete(talk, .leaving, by: .ana)
        }
    }

    @Test func `what the blocked say as of others, and nothing of the block (webhooks 4_2)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.know(.ana, .bo)
        let talk = try await sample.conversation()
        try await sample.expectNothingHeard { try await sample.block(.ana, by: .bo) }
        try await sample.expectHeard(first: [.messageSent], later: [.messageSent]) {
            try await sample.send(by: .ana, to: talk)
        }
    }

    @Test func `no announcement, notification, identity or content (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        try await sample.know(.cy)
        let talk = try await sample.conversation()
        try await sample.expectNothingHeard {
            try await sample.tell()
            try await sample.know(.named("gil"))
            try await sample.store.follow([.bo], by: .ana, in: sample.application)
            try await sample.upload(to: talk)
        }
    }

    @Test func `no change without an effect (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        let talk = try await sample.create(isDistinct: true, metadata: ["a": "b"])
            .object.conversation.id
        let message = try await sample.send(to: talk).object.message.id
        try await sample.store.recordReceipt(.read, of: message, by: .bo, in: sample.application)
        try await sample.expectNothingHeard("what is so already") {
            try await sample.patch(
                talk, .addParticipant(.ana), .removeParticipant(.cy),
                .setMetadata(path: ["a"], "b"))
            try await sample.create(isDistinct: true)
        }
        try await sample.expectNothingHeard("a receipt that exists, or of the sender") {
            for kind in [Receipts.Kind.delivery, .read] {
                for user in [UserID.ana, .bo] {
                    try await sample.store.recordReceipt(
                        kind, of: message, by: user, in: sample.application)
                }
            }
        }
    }

    @Test func `a receipt over what others sent, one message each in 1_0 (webhooks 4_2)`()
        async throws
    {
        let sample = try await SampleApplication()
        let talk = try await sample.conversation()
        for user in [UserID.ana, .bo, .ana] { try await sample.send(by: user, to: talk) }
        try await sample.expectHeard(
            first: [.messageDelivered, .messageDelivered], later: [.receiptCreated]
        ) {
            try await sample.store.recordReceipts(
                .delivery, of: IntervalSet(1...3), by: .bo, in: talk, in: sample.application)
        }
    }
}

extension SampleApplication {
    /// Expects the webhook events of an action for a subscription to all topics, in 1.0 and in later versions.
    fileprivate func expectHeard(
        first: [WebhookTopic], later: [WebhookTopic], _ why: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, of action: () async throws -> Void
    ) async throws {
        let end = try await store.logExtent(in: application).end
        try await action()
        let told = try await told(after: end)
        for (isFirst, topics) in [(true, first), (false, later)] {
            let heard = told.filter { $0.versions.contains(.v1_0) == isFirst }
            #expect(heard.map(\.topic) == topics, why, sourceLocation: sourceLocation)
        }
    }

    /// The webhook events after a position for a subscription to all topics.
    fileprivate func told(after place: LogPosition) async throws -> [WebhookEvent] {
        let all = Dictionary(
            uniqueKeysWithValues: WebhookVersion.allCases.map {
                ($0, Set(WebhookTopic.all(in: $0)))
            })
        return try await store.webhookEvents(
            after: WebhookCheckpoint(after: place), to: all, limit: 100, in: application
        ).events
    }

    fileprivate func expectNothingHeard(
        _ why: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
        of action: () async throws -> Void
    ) async throws {
        try await expectHeard(first: [], later: [], why, sourceLocation: sourceLocation, of: action)
    }
}
