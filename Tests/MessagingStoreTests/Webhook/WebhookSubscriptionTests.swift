import Messaging
import Testing

@testable import MessagingStore

@Suite struct `What a webhook was active for` {
    @Test func `is stored until it is read, through every deactivation (webhooks 1_3)`()
        async throws
    {
        let (sample, webhook) = try await SampleApplication.telling()
        let conversation = try await sample.conversation()
        var (told, others): ([LogPosition], [LogPosition]) = ([], [])
        for _ in 1...2 {
            try await sample.send(to: conversation)
            told.append(try await sample.end())
            _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
            try await sample.send(to: conversation)
            others.append(try await sample.end())
            try await sample.activate(webhook)
        }
        try await sample.send(to: conversation)
        told.append(try await sample.end())
        let found = try #require(try await sample.told().first)
        #expect(told.allSatisfy(found.covers))
        #expect(!others.contains(where: found.covers))
        #expect(found.unread.map(\.through) == Array(told.prefix(2)))
        #expect(try await sample.store.applicationsWithUnreadEvents() == [sample.application])
    }

    @Test func `goes when it is read, and not before (webhooks 1_3)`() async throws {
        let (sample, webhook) = try await SampleApplication.telling()
        let conversation = try await sample.conversation()
        try await sample.send(to: conversation)
        let before = try await sample.told()
        _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
        let now = try await sample.told()
        let end = try #require(now.first?.unread.first?.through)
        let almost = LogPosition(end.number - 1)
        // A reader that read for a webhook that was active then reads again.
        #expect(try await !sample.read(to: end, for: before))
        #expect(try await sample.read(to: almost, for: now))
        let left = try await sample.told()
        #expect(left == now)
        #expect(try await sample.read(from: almost, to: end, for: left))
        #expect(try await sample.told().isEmpty)
        #expect(try await sample.store.applicationsWithUnreadEvents().isEmpty)
    }

    @Test func `is not stored when it has been read (webhooks 1_3)`() async throws {
        let (sample, webhook) = try await SampleApplication.telling()
        try await sample.conversation()
        #expect(try await sample.read(to: try await sample.end(), for: try await sample.told()))
        _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
        #expect(try await sample.told().isEmpty)
    }

    @Test func `goes with the webhook`() async throws {
        let (sample, webhook) = try await SampleApplication.telling()
        try await sample.conversation()
        _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
        #expect(try await sample.told().map(\.webhook.id) == [webhook.id])
        try await sample.store.deleteWebhook(webhook.id, in: sample.application)
        #expect(try await sample.told().isEmpty)
        #expect(try await sample.store.applicationsWithUnreadEvents().isEmpty)
    }

    @Test func `prevents trimming of its events until then (X3)`() async throws {
        let (sample, webhook) = try await SampleApplication.telling()
        let place = try await sample.end()
        let conversation = try await sample.conversation()
        try await sample.send(to: conversation)
        _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
        try await sample.store.trimLogs(before: sample.tick())
        #expect(try await sample.store.logExtent(in: sample.application).trimmed < place)
        let told = try await sample.told()
        #expect(try await sample.read(to: try await sample.end(), for: told))
        try await sample.store.trimLogs(before: sample.tick())
        let extent = try await sample.store.logExtent(in: sample.application)
        #expect(extent.trimmed == extent.end)
    }
}

extension SampleApplication {
    /// An application with an active webhook, for which nothing was read yet.
    fileprivate static func telling() async throws -> (SampleApplication, Webhook) {
        let sample = try await SampleApplication()
        let webhook = try await sample.hook()
        try await sample.store.finishVerification(of: webhook, failure: nil, in: sample.application)
        return (sample, webhook)
    }

    fileprivate func activate(_ webhook: Webhook) async throws {
        let asked = try await store.activateWebhook(webhook.id, in: application)
        try await store.finishVerification(of: asked, failure: nil, in: application)
    }

    fileprivate func told() async throws -> [WebhookSubscription] {
        try await store.webhookSubscriptions(in: application)
    }

    /// - Returns: Whether that is remembered.
    fileprivate func read(
        from start: LogPosition? = nil, to end: LogPosition, for told: [WebhookSubscription]
    ) async throws -> Bool {
        try await store.enqueue(
            [], from: start.map { WebhookCheckpoint(after: $0) }, to: WebhookCheckpoint(after: end),
            for: told, in: application)
    }
}
