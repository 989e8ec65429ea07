import Messaging
import Testing

@testable import MessagingStore

@Suite struct `What a webhook was active for` {
    @Test func `is kept until it is read, through every deactivation (webhooks 1_3)`()
        async throws
    {
        let (shop, webhook) = try await Shop.telling()
        let conversation = try await shop.conversation()
        var (told, others): ([LogPosition], [LogPosition]) = ([], [])
        for _ in 1...2 {
            try await shop.send(to: conversation)
            told.append(try await shop.end())
            _ = try await shop.store.deactivateWebhook(webhook.id, in: shop.application)
            try await shop.send(to: conversation)
            others.append(try await shop.end())
            try await shop.activate(webhook)
        }
        try await shop.send(to: conversation)
        told.append(try await shop.end())
        let found = try #require(try await shop.told().first)
        #expect(told.allSatisfy(found.isTold))
        #expect(!others.contains(where: found.isTold))
        #expect(found.unread.map(\.through) == Array(told.prefix(2)))
        #expect(try await shop.store.applicationsBehind() == [shop.application])
    }

    @Test func `goes when it is read, and not before (webhooks 1_3)`() async throws {
        let (shop, webhook) = try await Shop.telling()
        let conversation = try await shop.conversation()
        try await shop.send(to: conversation)
        let before = try await shop.told()
        _ = try await shop.store.deactivateWebhook(webhook.id, in: shop.application)
        let now = try await shop.told()
        let end = try #require(now.first?.unread.first?.through)
        let almost = LogPosition(end.number - 1)
        // Who has read for a webhook that was active then reads again.
        #expect(try await !shop.read(to: end, for: before))
        #expect(try await shop.read(to: almost, for: now))
        let left = try await shop.told()
        #expect(left == now)
        #expect(try await shop.read(from: almost, to: end, for: left))
        #expect(try await shop.told().isEmpty)
        #expect(try await shop.store.applicationsBehind().isEmpty)
    }

    @Test func `is not kept when it has been read (webhooks 1_3)`() async throws {
        let (shop, webhook) = try await Shop.telling()
        try await shop.conversation()
        #expect(try await shop.read(to: try await shop.end(), for: try await shop.told()))
        _ = try await shop.store.deactivateWebhook(webhook.id, in: shop.application)
        #expect(try await shop.told().isEmpty)
    }

    @Test func `goes with the webhook`() async throws {
        let (shop, webhook) = try await Shop.telling()
        try await shop.conversation()
        _ = try await shop.store.deactivateWebhook(webhook.id, in: shop.application)
        #expect(try await shop.told().map(\.webhook.id) == [webhook.id])
        try await shop.store.deleteWebhook(webhook.id, in: shop.application)
        #expect(try await shop.told().isEmpty)
        #expect(try await shop.store.applicationsBehind().isEmpty)
    }

    @Test func `keeps its events in the log until then (X3)`() async throws {
        let (shop, webhook) = try await Shop.telling()
        let place = try await shop.end()
        let conversation = try await shop.conversation()
        try await shop.send(to: conversation)
        _ = try await shop.store.deactivateWebhook(webhook.id, in: shop.application)
        try await shop.store.trimLogs(before: shop.tick())
        #expect(try await shop.store.logExtent(in: shop.application).trimmed < place)
        let told = try await shop.told()
        #expect(try await shop.read(to: try await shop.end(), for: told))
        try await shop.store.trimLogs(before: shop.tick())
        let extent = try await shop.store.logExtent(in: shop.application)
        #expect(extent.trimmed == extent.end)
    }
}

extension Shop {
    /// One with an active webhook, for which nobody has read yet.
    fileprivate static func telling() async throws -> (Shop, Webhook) {
        let shop = try await Shop()
        let webhook = try await shop.hook()
        try await shop.store.finishVerification(of: webhook, failure: nil, in: shop.application)
        return (shop, webhook)
    }

    fileprivate func activate(_ webhook: Webhook) async throws {
        let asked = try await store.activateWebhook(webhook.id, in: application)
        try await store.finishVerification(of: asked, failure: nil, in: application)
    }

    fileprivate func told() async throws -> [ToldWebhook] {
        try await store.toldWebhooks(in: application)
    }

    /// - Returns: Whether that is remembered.
    fileprivate func read(
        from start: LogPosition? = nil, to end: LogPosition, for told: [ToldWebhook]
    ) async throws -> Bool {
        try await store.enqueue(
            [], from: start.map { TellingPlace(after: $0) }, to: TellingPlace(after: end),
            for: told, in: application)
    }
}
