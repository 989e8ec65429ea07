import JSON
import Messaging
import MessagingStore
import Testing

@testable import Readers

@Suite struct `The body of a webhook event` {
    private static let all = Dictionary(
        uniqueKeysWithValues: WebhookVersion.allCases.map { ($0, Set(WebhookTopic.all(in: $0))) })

    @Test func `a deleted message is shown as before its deletion (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let id = try await sample.send(Array("gone".utf8), to: conversation)
        let bo = try #require(UserID("bo"))
        try await sample.store.recordReceipts(
            .read, of: IntervalSet(1...1), by: bo, in: conversation, in: sample.application)
        let end = try await sample.end()
        try await sample.store.deleteMessage(id, in: nil, in: sample.application)
        try await sample.store.deleteConversation(conversation, in: sample.application)
        for version in WebhookVersion.allCases {
            let bodies = try await sample.bodies(after: end, [version: [.messageDeleted]])
            let message = try #require(bodies.first?["message"])
            #expect(bodies.count == 1)
            #expect(message["parts"]?.elements.first { _ in true }?["body"]?.string == "gone")
            #expect(
                message["recipient_status"]?.members.map { $0.value.string } == ["sent", "read"])
            #expect(bodies.first?["event"]?["actor"] == nil && bodies.first?["actor"] == nil)
        }
    }

    @Test func `a deleted conversation is shown with its participants (webhooks 4_2)`() async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation(metadata: ["a": "b"])
        let end = try await sample.end()
        try await sample.store.deleteConversation(conversation, in: sample.application)
        let first = try await sample.bodies(after: end, [.v1_0: [.conversationDeleted]])
        #expect(
            first.map { $0["conversation"]?["participants"]?.description } == [#"["ana","bo"]"#])
        let later = try await sample.bodies(after: end, [.v3_0: [.conversationDeleted]])
        #expect(
            later.first?["conversation"]?["participants"]?.elements.map { $0["user_id"]?.string }
                == ["ana", "bo"])
        #expect(later.first?["conversation"]?["metadata"]?.description == #"{"a":"b"}"#)
    }

    @Test func `a change has the names of each version (webhooks 4_2)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let end = try await sample.end()
        let (ana, cy) = (try #require(UserID("ana")), try #require(UserID("cy")))
        _ = try await sample.store.patchConversation(
            conversation,
            [.addParticipant(cy), .removeParticipant(ana), .setMetadata(path: ["a"], "b")],
            in: sample.application)
        #expect(
            try await sample.types(after: end, .v1_0) == [
                "conversation.updated.participants", "conversation.updated.metadata",
            ])
        for version in [WebhookVersion.v2_0, .v3_0] {
            #expect(
                try await sample.types(after: end, version) == [
                    "Participation.created", "Participation.deleted", "Conversation.updated",
                ])
        }
        let bodies = try await sample.bodies(after: end, [.v3_0: Set(WebhookTopic.all(in: .v3_0))])
        #expect(Set(bodies.map { $0["event"]?["id"]?.string }).count == 3)
        #expect(bodies[1]["changes"]?.elements.map { $0["user_id"]?.string } == ["ana"])
        #expect(
            bodies[1]["changes"]?.elements.first { _ in true }?["url"]?.string
                == "\(SampleApplication.base)/apps/\(sample.application)/identities/ana")
    }

    @Test func `from 2_0 on the id of a new message is the id of its event (webhooks 4_1)`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        let end = try await sample.end()
        let id = try await sample.send(Array("hi".utf8), to: conversation)
        let later = try await sample.bodies(after: end, [.v2_0: [.messageSent]])
        #expect(later.map { $0["event"]?["id"]?.string } == [id.uuid])
        #expect(later.first?["actor"]?["display_name"]?.string == "Billing")
        let first = try await sample.bodies(after: end, [.v1_0: [.messageSent]])
        #expect(first.first?["event"]?["id"]?.string != id.uuid)
        #expect(first.first?["event"]?["actor"]?.description == #"{"name":"Billing"}"#)
    }

    @Test
    func `marking all as read is one range, and one event per message in 1_0 (webhooks 4_2)`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        for number in 0..<9 { try await sample.send(Array("\(number)".utf8), to: conversation) }
        let end = try await sample.end()
        let bo = try #require(UserID("bo"))
        try await sample.store.recordReceipts(
            .read, of: IntervalSet(1...9), by: bo, in: conversation, in: sample.application)
        try await sample.send(Array("after".utf8), to: conversation)
        let whole = try await sample.messages(after: end, Self.all, limit: 100)
        for limit in [1, 2, 4, 9, 10, 11] {
            let pieces = try await sample.messages(after: end, Self.all, limit: limit)
            #expect(pieces.map(sample.body) == whole.map(sample.body))
        }
        #expect(whole.filter { $0.topic == .messageRead }.count == 9)
        let ranges = whole.filter { $0.topic == .receiptCreated }
        #expect(ranges.map(\.versions) == [[.v2_0, .v3_0]])
        let range = try #require(ranges.first)
        #expect(
            try JSONDocument(sample.body(of: range)).root["receipt"]?.description
                == #"{"type":"Read","positions":{"from":65536,"to":589824}}"#)
        #expect(Set(whole.filter { $0.topic == .messageRead }.map(\.id)).count == 9)
    }

    @Test func `a trimmed position is reported as gone (X3)`() async throws {
        let sample = try await SampleApplication()
        _ = try await sample.conversation()
        sample.advanceOneDay()
        try await sample.store.trimLogs(
            before: Timestamp(milliseconds: 1_772_356_530_042 + 86_400_000))
        await #expect(throws: Rejection.self) {
            _ = try await sample.store.webhookEvents(
                after: WebhookCheckpoint(after: .start), to: Self.all, limit: 10,
                in: sample.application)
        }
    }

    @Test
    func `a webhook receives its topics since its activation, with its config (webhooks 4_1)`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.send(Array("hi".utf8), to: conversation)
        let message = try #require(
            try await sample.messages(after: .start, [.v1_0: [.messageSent]], limit: 10).first)
        func webhook(
            _ since: LogPosition?, _ version: WebhookVersion = .v1_0,
            _ topics: [WebhookTopic] = [.messageSent], config: [Webhook.Setting]? = nil
        ) -> Webhook {
            Webhook(
                id: .v7(at: Timestamp(milliseconds: 1), random: 1), payloadVersion: version,
                target: "https://hooks.example.org/in", topics: topics, secret: "s3cret",
                config: config, status: since.map(Webhook.Status.active) ?? .unverified,
                createdAt: Timestamp(milliseconds: 1))
        }
        let before = LogPosition(message.position.number - 1)
        #expect(message.isFor(WebhookSubscription(webhook(before))))
        #expect(!message.isFor(WebhookSubscription(webhook(message.position))))
        #expect(!message.isFor(WebhookSubscription(webhook(nil))))
        #expect(!message.isFor(WebhookSubscription(webhook(before, .v2_0))))
        #expect(!message.isFor(WebhookSubscription(webhook(before, .v1_0, [.messageRead]))))
        let at = message.position
        let after = LogPosition(at.number + 1)
        for (range, isIn) in [
            (LogRange(after: before, through: at), true),
            (LogRange(after: before, through: after), true),
            (LogRange(after: at, through: after), false),
            (LogRange(after: .start, through: before), false),
        ] {
            #expect(message.isFor(WebhookSubscription(webhook(nil), unread: [range])) == isIn)
            #expect(message.isFor(WebhookSubscription(webhook(after), unread: [range])) == isIn)
        }

        let body = sample.body(of: message)
        #expect(WebhookRenderer.body(body, for: webhook(before)) == body)
        let settings = [
            Webhook.Setting(name: "b", value: "/"), Webhook.Setting(name: "7", value: "x"),
        ]
        let text = String(
            decoding: WebhookRenderer.body(body, for: webhook(before, config: settings)),
            as: UTF8.self)
        #expect(text.hasSuffix(#"},"config":{"7":"x","b":"/"}}"#))
        #expect(
            String(
                decoding: WebhookRenderer.body(body, for: webhook(before, config: [])),
                as: UTF8.self
            )
            .hasSuffix(#","config":{}}"#))
    }

    @Test func `the headers are those of the Layer API (webhooks 3_1, 3_2)`() throws {
        let body = #"{"event":{"id":"e1","type":"Message.created"},"note":"naïve/ok"}"#
        let application = try #require(
            Application.ID(uuid: "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"))
        let id = try #require(Webhook.ID(uuid: "2d4f6a8c-1b3e-4d5f-8a7c-9e0b1c2d3e4f"))
        let event = try #require(EventID(uuid: "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d"))
        let webhook = Webhook(
            id: id, payloadVersion: .v2_0, target: "https://hooks.example.org/in",
            topics: [.messageSent], secret: "s3cret", config: nil,
            createdAt: Timestamp(milliseconds: 1))
        let fields = LayerWebhookHeaders.of(
            "Message.created", event, Array(body.utf8), to: webhook, in: application)
        #expect(
            fields.map { "\($0.name): \($0.value)" } == [
                "layer-webhook-event-type: Message.created",
                "layer-webhook-signature: c785764a265d96784be540f0447e2c9bcd9f6009",
                "layer-webhook-request-id: a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d",
                "layer-webhook-id: layer:///apps/\(application)/webhooks/\(id)",
                "user-agent: layer-webhooks/1.0",
                "content-type: application/vnd.layer.webhooks+json; version=2.0",
            ])
    }
}

extension SampleApplication {
    fileprivate func end() async throws -> LogPosition {
        try await store.logExtent(in: application).end
    }

    fileprivate func body(of event: WebhookEvent) -> [UInt8] {
        renderer.body(of: event, in: application)
    }

    fileprivate func messages(
        after position: LogPosition, _ wanted: [WebhookVersion: Set<WebhookTopic>], limit: Int
    ) async throws -> [WebhookEvent] {
        var (position, messages) = (WebhookCheckpoint(after: position), [WebhookEvent]())
        while true {
            let range = try await store.webhookEvents(
                after: position, to: wanted, limit: limit, in: application)
            #expect(range.events.count <= limit + 1)
            messages += range.events
            position = range.next
            guard range.isCut else { return messages }
        }
    }

    fileprivate func bodies(
        after position: LogPosition, _ wanted: [WebhookVersion: Set<WebhookTopic>]
    ) async throws -> [JSONValue] {
        try await messages(after: position, wanted, limit: 100).map { message in
            try JSONDocument(body(of: message)).root
        }
    }

    fileprivate func types(
        after position: LogPosition, _ version: WebhookVersion
    ) async throws -> [String] {
        try await bodies(after: position, [version: Set(WebhookTopic.all(in: version))])
            .map { $0["event"]?["type"]?.string ?? "" }
    }
}
