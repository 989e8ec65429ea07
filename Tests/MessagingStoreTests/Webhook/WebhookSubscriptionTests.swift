import Messaging
import Testing

@testable import MessagingStore

@Suite struct `The log range of a deactivated webhook` {
    @Test func `is stored until it is read, after each deactivation (webhooks 1_3)`()
        async throws
    {
        let (sample, webhook) = try await SampleApplication.withActiveWebhook()
        let conversation = try await sample.conversation()
        var (covered, others): ([LogPosition], [LogPosition]) = ([], [])
        for _ in 1...2 {
            try await sample.send(to: conversation)
            covered.append(try await sample.end())
            _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
            try await sample.send(to: conversation)
            others.append(try await sample.end())
            try await sample.activate(webhook)
        }
        try await sample.send(to: conversation)
        covered.append(try await sample.end())
        let found = try #require(try await sample.subscriptions().first)
        #expect(covered.allSatisfy(found.covers))
        #expect(!others.contains(where: found.covers))
        #expect(found.unread.map(\.through) == Array(covered.prefix(2)))
        #expect(try await sample.store.applicationsWithUnreadEvents() == [sample.application])
    }

    @Test func `is deleted when it is read, and not before (webhooks 1_3)`() async throws {
        let (sample, webhook) = try await SampleApplication.withActiveWebhook()
        let conversation = try await sample.conversation()
        try await sample.send(to: conversation)
        let before = try await sample.subscriptions()
        _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
        let now = try await sample.subscriptions()
        let end = try #require(now.first?.unread.first?.through)
        let almost = LogPosition(end.number - 1)
        // A reader that read for the active webhook has to read again.
        #expect(try await !sample.read(to: end, for: before))
        #expect(try await sample.read(to: almost, for: now))
        let left = try await sample.subscriptions()
        #expect(left == now)
        #expect(try await sample.read(from: almost, to: end, for: left))
        #expect(try await sample.subscriptions().isEmpty)
        #expect(try await sample.store.applicationsWithUnreadEvents().isEmpty)
    }

    @Test func `is not stored when it has been read (webhooks 1_3)`() async throws {
        let (sample, webhook) = try await SampleApplication.withActiveWebhook()
        try await sample.conversation()
        #expect(
            try await sample.read(to: try await sample.end(), for: try await sample.subscriptions())
        )
        _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
        #expect(try await sample.subscriptions().isEmpty)
    }

    @Test func `is deleted with the webhook`() async throws {
        let (sample, webhook) = try await SampleApplication.withActiveWebhook()
        try await sample.conversation()
        _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
        #expect(try await sample.subscriptions().map(\.webhook.id) == [webhook.id])
        try await sample.store.deleteWebhook(webhook.id, in: sample.application)
        #expect(try await sample.subscriptions().isEmpty)
        #expect(try await sample.store.applicationsWithUnreadEvents().isEmpty)
    }

    @Test func `prevents trimming of its events until it is read (X3)`() async throws {
        let (sample, webhook) = try await SampleApplication.withActiveWebhook()
        let position = try await sample.end()
        let conversation = try await sample.conversation()
        try await sample.send(to: conversation)
        _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
        try await sample.store.trimLogs(before: sample.tick())
        #expect(try await sample.store.logExtent(in: sample.application).trimmed < position)
        let subscriptions = try await sample.subscriptions()
        #expect(try await sample.read(to: try await sample.end(), for: subscriptions))
        try await sample.store.trimLogs(before: sample.tick())
        let extent = try await sample.store.logExtent(in: sample.application)
        #expect(extent.trimmed == extent.end)
    }
}

extension SampleApplication {
    /// An application with an active webhook, for which nothing was read yet.
    fileprivate static func withActiveWebhook() async throws -> (SampleApplication, Webhook) {
        let sample = try await SampleApplication()
        let webhook = try await sample.registerWebhook()
        try await sample.store.finishVerification(of: webhook, failure: nil, in: sample.application)
        return (sample, webhook)
    }

    fileprivate func activate(_ webhook: Webhook) async throws {
        let verifying = try await store.activateWebhook(webhook.id, in: application)
        try await store.finishVerification(of: verifying, failure: nil, in: application)
    }

    fileprivate func subscriptions() async throws -> [WebhookSubscription] {
        try await store.webhookSubscriptions(in: application)
    }

    /// - Returns: Whether the checkpoint was stored.
    fileprivate func read(
        from start: LogPosition? = nil, to end: LogPosition,
        for subscriptions: [WebhookSubscription]
    ) async throws -> Bool {
        try await store.enqueue(
            [], from: start.map { WebhookCheckpoint(after: $0) }, to: WebhookCheckpoint(after: end),
            for: subscriptions, in: application)
    }
}
