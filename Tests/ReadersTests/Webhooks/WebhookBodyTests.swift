import JSON
import Messaging
import MessagingStore
import Testing

@testable import Readers

@Suite struct `The body of a webhook event` {
    private static let all = Dictionary(
        uniqueKeysWithValues: WebhookVersion.allCases.map { ($0, Set(WebhookTopic.all(in: $0))) })

    @Test func `a deleted message is shown as it was (webhooks 4_2)`() async throws {
        let depot = try await SampleApplication()
        let talk = try await depot.conversation()
        let id = try await depot.send(Array("gone".utf8), to: talk)
        let bo = try #require(UserID("bo"))
        try await depot.store.recordReceipts(
            .read, of: IntervalSet(1...1), by: bo, in: talk, in: depot.application)
        let end = try await depot.end()
        try await depot.store.deleteMessage(id, in: nil, in: depot.application)
        try await depot.store.deleteConversation(talk, in: depot.application)
        for version in WebhookVersion.allCases {
            let told = try await depot.bodies(after: end, [version: [.messageDeleted]])
            let message = try #require(told.first?["message"])
            #expect(told.count == 1)
            #expect(message["parts"]?.elements.first { _ in true }?["body"]?.string == "gone")
            #expect(
                message["recipient_status"]?.members.map { $0.value.string } == ["sent", "read"])
            #expect(told.first?["event"]?["actor"] == nil && told.first?["actor"] == nil)
        }
    }

    @Test func `a deleted conversation is shown with its participants (webhooks 4_2)`() async throws
    {
        let depot = try await SampleApplication()
        let talk = try await depot.conversation(metadata: ["a": "b"])
        let end = try await depot.end()
        try await depot.store.deleteConversation(talk, in: depot.application)
        let first = try await depot.bodies(after: end, [.v1_0: [.conversationDeleted]])
        #expect(
            first.map { $0["conversation"]?["participants"]?.description } == [#"["ana","bo"]"#])
        let later = try await depot.bodies(after: end, [.v3_0: [.conversationDeleted]])
        #expect(
            later.first?["conversation"]?["participants"]?.elements.map { $0["user_id"]?.string }
                == ["ana", "bo"])
        #expect(later.first?["conversation"]?["metadata"]?.description == #"{"a":"b"}"#)
    }

    @Test func `one change is named as each version names it (webhooks 4_2)`() async throws {
        let depot = try await SampleApplication()
        let talk = try await depot.conversation()
        let end = try await depot.end()
        let (ana, cy) = (try #require(UserID("ana")), try #require(UserID("cy")))
        _ = try await depot.store.patchConversation(
            talk, [.addParticipant(cy), .removeParticipant(ana), .setMetadata(path: ["a"], "b")],
            in: depot.application)
        #expect(
            try await depot.types(after: end, .v1_0) == [
                "conversation.updated.participants", "conversation.updated.metadata",
            ])
        for version in [WebhookVersion.v2_0, .v3_0] {
            #expect(
                try await depot.types(after: end, version) == [
                    "Participation.created", "Participation.deleted", "Conversation.updated",
                ])
        }
        let told = try await depot.bodies(after: end, [.v3_0: Set(WebhookTopic.all(in: .v3_0))])
        #expect(Set(told.map { $0["event"]?["id"]?.string }).count == 3)
        #expect(told[1]["changes"]?.elements.map { $0["user_id"]?.string } == ["ana"])
        #expect(
            told[1]["changes"]?.elements.first { _ in true }?["url"]?.string
                == "\(SampleApplication.base)/apps/\(depot.application)/identities/ana")
    }

    @Test func `from 2_0 on the id of a new message is the id of its event (webhooks 4_1)`()
        async throws
    {
        let depot = try await SampleApplication()
        let talk = try await depot.conversation()
        let end = try await depot.end()
        let id = try await depot.send(Array("hi".utf8), to: talk)
        let later = try await depot.bodies(after: end, [.v2_0: [.messageSent]])
        #expect(later.map { $0["event"]?["id"]?.string } == [id.uuid])
        #expect(later.first?["actor"]?["display_name"]?.string == "Billing")
        let first = try await depot.bodies(after: end, [.v1_0: [.messageSent]])
        #expect(first.first?["event"]?["id"]?.string != id.uuid)
        #expect(first.first?["event"]?["actor"]?.description == #"{"name":"Billing"}"#)
    }

    @Test
    func `marking all is one range, and in 1_0 one event per message, in batches (webhooks 4_2)`()
        async throws
    {
        let depot = try await SampleApplication()
        let talk = try await depot.conversation()
        for number in 0..<9 { try await depot.send(Array("\(number)".utf8), to: talk) }
        let end = try await depot.end()
        let bo = try #require(UserID("bo"))
        try await depot.store.recordReceipts(
            .read, of: IntervalSet(1...9), by: bo, in: talk, in: depot.application)
        try await depot.send(Array("after".utf8), to: talk)
        let whole = try await depot.messages(after: end, Self.all, limit: 100)
        for limit in [1, 2, 4, 9, 10, 11] {
            let pieces = try await depot.messages(after: end, Self.all, limit: limit)
            #expect(pieces.map(depot.body) == whole.map(depot.body))
        }
        #expect(whole.filter { $0.topic == .messageRead }.count == 9)
        let ranges = whole.filter { $0.topic == .receiptCreated }
        #expect(ranges.map(\.versions) == [[.v2_0, .v3_0]])
        let range = try #require(ranges.first)
        #expect(
            try JSONDocument(depot.body(of: range)).root["receipt"]?.description
                == #"{"type":"Read","positions":{"from":65536,"to":589824}}"#)
        #expect(Set(whole.filter { $0.topic == .messageRead }.map(\.id)).count == 9)
    }

    @Test func `a trimmed position is reported as gone (X3)`() async throws {
        let depot = try await SampleApplication()
        _ = try await depot.conversation()
        depot.advanceOneDay()
        try await depot.store.trimLogs(
            before: Timestamp(milliseconds: 1_772_356_530_042 + 86_400_000))
        await #expect(throws: Rejection.self) {
            _ = try await depot.store.webhookEvents(
                after: WebhookCheckpoint(after: .start), to: Self.all, limit: 10,
                in: depot.application)
        }
    }

    @Test
    func `a webhook receives its topics since it was active, with its config (webhooks 4_1)`()
        async throws
    {
        let depot = try await SampleApplication()
        let talk = try await depot.conversation()
        try await depot.send(Array("hi".utf8), to: talk)
        let message = try #require(
            try await depot.messages(after: .start, [.v1_0: [.messageSent]], limit: 10).first)
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
        for (stretch, isIn) in [
            (LogRange(after: before, through: at), true),
            (LogRange(after: before, through: after), true),
            (LogRange(after: at, through: after), false),
            (LogRange(after: .start, through: before), false),
        ] {
            #expect(message.isFor(WebhookSubscription(webhook(nil), unread: [stretch])) == isIn)
            #expect(message.isFor(WebhookSubscription(webhook(after), unread: [stretch])) == isIn)
        }

        let body = depot.body(of: message)
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
        after place: LogPosition, _ wanted: [WebhookVersion: Set<WebhookTopic>], limit: Int
    ) async throws -> [WebhookEvent] {
        var (place, messages) = (WebhookCheckpoint(after: place), [WebhookEvent]())
        while true {
            let stretch = try await store.webhookEvents(
                after: place, to: wanted, limit: limit, in: application)
            #expect(stretch.events.count <= limit + 1)
            messages += stretch.events
            place = stretch.next
            guard stretch.isCut else { return messages }
        }
    }

    fileprivate func bodies(
        after place: LogPosition, _ wanted: [WebhookVersion: Set<WebhookTopic>]
    ) async throws -> [JSONValue] {
        try await messages(after: place, wanted, limit: 100).map { message in
            try JSONDocument(body(of: message)).root
        }
    }

    fileprivate func types(
        after place: LogPosition, _ version: WebhookVersion
    ) async throws -> [String] {
        try await bodies(after: place, [version: Set(WebhookTopic.all(in: version))])
            .map { $0["event"]?["type"]?.string ?? "" }
    }
}
