import Messaging
import Testing

@testable import MessagingStore

@Suite struct `What receivers hear of` {
    @Test func `each kind of event there is, in the words of their version (webhooks 4_2)`()
        async throws
    {
        let shop = try await Shop()
        var talk: Conversation.ID = .sample(1)
        try await shop.expectHeard(
            first: [.conversationCreated], later: [.conversationCreated],
            "a conversation with metadata is one"
        ) { talk = try await shop.conversation(metadata: ["a": "b"]) }
        var message: Message.ID = .sample(1)
        try await shop.expectHeard(first: [.messageSent], later: [.messageSent]) {
            message = try await shop.send(to: talk).object.message.id
        }
        try await shop.expectHeard(first: [.messageDelivered], later: [.receiptCreated]) {
            try await shop.store.recordReceipt(
                .delivery, of: message, by: .bo, in: shop.application)
        }
        try await shop.expectHeard(first: [.messageRead], later: [.receiptCreated]) {
            try await shop.store.recordReceipt(.read, of: message, by: .bo, in: shop.application)
        }
        try await shop.expectHeard(first: [], later: [.messageUpdated, .partCreated]) {
            _ = try await shop.store.addPart(
                .text("more"), to: message, by: .system(talk), in: shop.application)
        }
        try await shop.expectHeard(
            first: [.participantsChanged, .metadataChanged],
            later: [.participationCreated, .participationDeleted, .metadataChanged],
            "one request, and several events"
        ) {
            try await shop.patch(
                talk, .addParticipant(.cy), .removeParticipant(.bo),
                .setMetadata(path: ["a"], "c"))
        }
        try await shop.expectHeard(first: [.messageDeleted], later: [.messageDeleted]) {
            try await shop.store.deleteMessage(message, in: nil, in: shop.application)
        }
        try await shop.expectHeard(first: [.conversationDeleted], later: [.conversationDeleted]) {
            try await shop.store.deleteConversation(talk, in: shop.application)
        }
    }

    @Test func `as much when what it tells of was deleted since (webhooks 4_2)`() async throws {
        let shop = try await Shop()
        let start = try await shop.end()
        var inTime: [ToldEvent] = []
        func hear() async throws {
            inTime += try await shop.told(after: inTime.last?.position ?? start)
        }
        let users = [UserID.ana, .bo, .cy]
        let talk = try await shop.conversation(users, metadata: ["a": "b"])
        try await hear()
        let message = try await shop.send(by: .ana, to: talk).object.message.id
        try await shop.send(by: .bo, to: talk)
        try await hear()
        for kind in [Receipts.Kind.delivery, .read] {
            try await shop.store.recordReceipts(
                kind, of: IntervalSet(1...2), by: .cy, in: talk, in: shop.application)
            try await hear()
        }
        _ = try await shop.store.addPart(
            .text("more"), to: message, by: .system(talk), in: shop.application)
        try await hear()
        try await shop.patch(talk, .setMetadata(path: ["a"], "c"))
        try await hear()
        try await shop.store.deleteMessage(message, in: nil, in: shop.application)
        try await hear()
        try await shop.store.deleteConversation(talk, in: shop.application)
        try await hear()

        let late = try await shop.told(after: start)
        #expect(late.map(\.occurrence.id) == inTime.map(\.occurrence.id))
        #expect(late.map(\.versions) == inTime.map(\.versions))
        for told in late {
            switch told.subject {
            case .message(let shown): #expect(shown.recipients.map(\.userID) == users)
            case .conversation(let shown): #expect(shown.participants.map(\.userID) == users)
            default: break
            }
        }
        func sent(_ told: [ToldEvent]) -> [ToldEvent.Subject] {
            told.filter { event in event.occurrence.topic == .messageSent }.map(\.subject)
        }
        #expect(sent(late) == sent(inTime))
    }

    @Test func `two conversations that become one (X1_5)`() async throws {
        let shop = try await Shop()
        try await shop.create(isDistinct: true)
        let arrived = try await shop.bring(7, createdAt: 1)
        try await shop.expectHeard(first: [.conversationMerged], later: [.conversationMerged]) {
            try await shop.settle(arrived)
        }
        let third = try await shop.bring(
            8, createdAt: 2, metadata: Metadata(["a": "b"], at: Timestamp(milliseconds: 3)))
        try await shop.expectHeard(
            first: [.conversationMerged, .metadataChanged],
            later: [.conversationMerged, .metadataChanged],
            "who knows no merging hears of the metadata that came of it"
        ) { try await shop.settle(third) }
    }

    @Test func `a scheduled message when it is sent, and a batch at once (webhooks 4_2)`()
        async throws
    {
        let shop = try await Shop()
        let talk = try await shop.conversation()
        try await shop.expectNothingHeard { try await shop.schedule(to: talk) }
        try await shop.expectHeard(first: [.messageSent], later: [.messageSent]) {
            try await shop.send(after: 5)
        }
        let batch = [
            Message.Sending(try shop.draft("one")), Message.Sending(try shop.draft("two")),
        ]
        try await shop.expectHeard(
            first: [.messageSent, .messageSent], later: [.messageSent, .messageSent]
        ) { try await shop.batch(batch, to: talk) }
    }

    @Test func `leaving, but not of what one deletes for himself (webhooks 4_2)`() async throws {
        let shop = try await Shop()
        try await shop.know(.ana, .bo)
        let talk = try await shop.conversation([.ana, .bo, .cy])
        let message = try await shop.send(to: talk).object.message.id
        try await shop.expectNothingHeard {
            try await shop.store.deleteMessage(
                message, forAll: false, by: .bo, in: shop.application)
            try await shop.delete(talk, .forMe, by: .bo)
        }
        try await shop.expectHeard(first: [.participantsChanged], later: [.participationDeleted]) {
            try await shop.delete(talk, .leaving, by: .ana)
        }
    }

    @Test func `what the blocked say as of others, and nothing of the block (webhooks 4_2)`()
        async throws
    {
        let shop = try await Shop()
        try await shop.know(.ana, .bo)
        let talk = try await shop.conversation()
        try await shop.expectNothingHeard { try await shop.block(.ana, by: .bo) }
        try await shop.expectHeard(first: [.messageSent], later: [.messageSent]) {
            try await shop.send(by: .ana, to: talk)
        }
    }

    @Test func `no announcement, notification, identity or content (webhooks 4_2)`() async throws {
        let shop = try await Shop()
        try await shop.know(.cy)
        let talk = try await shop.conversation()
        try await shop.expectNothingHeard {
            try await shop.tell()
            try await shop.know(.named("gil"))
            try await shop.store.follow([.bo], by: .ana, in: shop.application)
            try await shop.upload(to: talk)
        }
    }

    @Test func `no change without an effect (webhooks 4_2)`() async throws {
        let shop = try await Shop()
        let talk = try await shop.create(isDistinct: true, metadata: ["a": "b"])
            .object.conversation.id
        let message = try await shop.send(to: talk).object.message.id
        try await shop.store.recordReceipt(.read, of: message, by: .bo, in: shop.application)
        try await shop.expectNothingHeard("what is so already") {
            try await shop.patch(
                talk, .addParticipant(.ana), .removeParticipant(.cy),
                .setMetadata(path: ["a"], "b"))
            try await shop.create(isDistinct: true)
        }
        try await shop.expectNothingHeard("what he knows, or has sent") {
            for kind in [Receipts.Kind.delivery, .read] {
                for user in [UserID.ana, .bo] {
                    try await shop.store.recordReceipt(
                        kind, of: message, by: user, in: shop.application)
                }
            }
        }
    }

    @Test func `a receipt over what others sent, one message each in 1_0 (webhooks 4_2)`()
        async throws
    {
        let shop = try await Shop()
        let talk = try await shop.conversation()
        for user in [UserID.ana, .bo, .ana] { try await shop.send(by: user, to: talk) }
        try await shop.expectHeard(
            first: [.messageDelivered, .messageDelivered], later: [.receiptCreated]
        ) {
            try await shop.store.recordReceipts(
                .delivery, of: IntervalSet(1...3), by: .bo, in: talk, in: shop.application)
        }
    }
}

extension Shop {
    /// Expects what somebody hears of an action who has asked for everything: in 1.0, and in what came later.
    fileprivate func expectHeard(
        first: [Topic], later: [Topic], _ why: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, of action: () async throws -> Void
    ) async throws {
        let end = try await store.logExtent(in: application).end
        try await action()
        let told = try await told(after: end)
        for (isFirst, topics) in [(true, first), (false, later)] {
            let heard = told.filter { $0.versions.contains(.v1_0) == isFirst }
            #expect(heard.map(\.occurrence.topic) == topics, why, sourceLocation: sourceLocation)
        }
    }

    /// What everybody hears of the log behind a place who has asked for everything.
    fileprivate func told(after place: LogPosition) async throws -> [ToldEvent] {
        let all = Dictionary(
            uniqueKeysWithValues: WebhookVersion.allCases.map { ($0, Set(Topic.all(in: $0))) })
        return try await store.told(
            after: TellingPlace(after: place), to: all, limit: 100, in: application
        ).events
    }

    fileprivate func expectNothingHeard(
        _ why: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
        of action: () async throws -> Void
    ) async throws {
        try await expectHeard(first: [], later: [], why, sourceLocation: sourceLocation, of: action)
    }
}
