import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `Stored webhooks` {
    @Test func `are read back as stored (webhooks 1_1)`() async throws {
        let sample = try await SampleApplication()
        let config = [
            Webhook.Setting(name: "b", value: "1"), Webhook.Setting(name: "10", value: ""),
        ]
        let plain = try await sample.registerWebhook()
        let carrying = try await sample.registerWebhook(config: config)
        #expect(plain.config == nil && carrying.config == config)
        for webhook in [plain, carrying] {
            #expect(try await sample.store.webhook(webhook.id, in: sample.application) == webhook)
        }
    }

    @Test func `record every effective change in the log (X3)`() async throws {
        let sample = try await SampleApplication()
        let before = try await sample.events().count
        let (store, application) = (sample.store.acting(as: .token(.sample(7))), sample.application)
        let webhook = try await sample.registerWebhook(config: [])
        // It is already being verified, then already active, and a late result is ignored.
        _ = try await store.activateWebhook(webhook.id, in: application)
        try await sample.store.finishVerification(of: webhook, failure: nil, in: application)
        let active = try await store.activateWebhook(webhook.id, in: application)
        try await sample.store.finishVerification(of: webhook, failure: "late", in: application)
        _ = try await store.rotateSecret(
            to: "n3w", keeping: 5000, of: webhook.id, in: application)
        let ended = try await store.deactivateWebhook(webhook.id, in: application)
        _ = try await store.deactivateWebhook(webhook.id, in: application)
        let verifying = try await store.activateWebhook(webhook.id, in: application)
        try await sample.store.finishVerification(of: verifying, failure: "no", in: application)
        let failed = try await sample.store.webhook(webhook.id, in: application)
        try await store.deleteWebhook(webhook.id, in: application)
        let events = try await sample.events().dropFirst(before)
        #expect(
            events.map(\.event) == [
                .webhookCreated(WebhookCreated(webhook: WebhookSummary(webhook))),
                .webhookUpdated(WebhookUpdated(webhook: WebhookSummary(active))),
                .webhookSecretRotated(
                    WebhookSecretRotated(
                        webhook: WebhookSummary(active),
                        formerUntil: Timestamp(milliseconds: 1_005_000))),
                .webhookUpdated(WebhookUpdated(webhook: WebhookSummary(ended))),
                .webhookUpdated(WebhookUpdated(webhook: WebhookSummary(verifying))),
                .webhookUpdated(WebhookUpdated(webhook: WebhookSummary(failed))),
                .webhookDeleted(WebhookDeleted(webhook: WebhookSummary(failed))),
            ])
        #expect(failed.status == .inactive(reason: "no"))
        // Registration here and the results of verification have no actor.
        #expect(events.map { $0.actor == nil } == [true, true, false, false, false, true, false])
    }

    @Test func `record no event for rejected changes`() async throws {
        let sample = try await SampleApplication()
        let webhook = try await sample.registerWebhook()
        let kinds = try await sample.kinds {
            await #expect(throws: VersionMismatch<Webhook>.self) {
                try await sample.store.deleteWebhook(
                    webhook.id, if: VersionPrecondition { _ in false }, in: sample.application)
            }
            await #expect(throws: Rejection.notFound(.webhook)) {
                _ = try await sample.store.deactivateWebhook(.sample(1), in: sample.application)
            }
        }
        #expect(kinds == [])
    }

    @Test func `never record a secret in the log (X3)`() async throws {
        let sample = try await SampleApplication()
        let webhook = try await sample.registerWebhook()
        try await sample.store.finishVerification(of: webhook, failure: nil, in: sample.application)
        for secret in ["s3cret-the-second", "s3cret-the-third"] {
            _ = try await sample.store.rotateSecret(
                to: secret, keeping: 5000, of: webhook.id, in: sample.application)
        }
        _ = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
        try await sample.store.deleteWebhook(webhook.id, in: sample.application)
        let payloads = try await sample.database.read { transaction in
            try transaction.rows("/* test */ SELECT payload FROM events WHERE kind >= 'webhook.'") {
                row in
                String(decoding: try row.blob(0), as: UTF8.self)
            }
        }
        #expect(payloads.count == 6)
        #expect(payloads.allSatisfy { $0.contains(webhook.target) })
        // All secrets start like this.
        #expect(!payloads.contains { $0.contains("s3cret") })
    }

    @Test func `are fifty at most, also when many register at once (webhooks 1_2)`() async throws {
        let sample = try await SampleApplication()
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<60 { group.addTask { (try? await sample.registerWebhook()) != nil } }
            return await group.reduce(into: 0) { count, isMade in count += isMade ? 1 : 0 }
        }
        #expect(outcomes == 50)
        await #expect(throws: Rejection.full(.webhook, limit: 50)) {
            try await sample.registerWebhook()
        }
    }

    @Test func `belong to one application`() async throws {
        let sample = try await SampleApplication()
        let other = try await sample.store.createApplication(name: "Other").id
        let webhook = try await sample.registerWebhook()
        await #expect(throws: Rejection.notFound(.webhook)) {
            try await sample.store.webhook(webhook.id, in: other)
        }
        await #expect(throws: Rejection.notFound(.webhook)) {
            try await sample.store.deleteWebhook(webhook.id, in: other)
        }
        #expect(try await sample.store.webhooks(limit: 5, in: other).items.isEmpty)
    }

    @Test func `are listed for verification across applications until verified (webhooks 1_3)`()
        async throws
    {
        let sample = try await SampleApplication()
        let other = try await sample.store.createApplication(name: "Other").id
        let mine = try await sample.registerWebhook()
        let theirs = try await sample.registerWebhook(in: other)
        let waiting = try await sample.store.unverifiedWebhooks(limit: 1)
        let more = try await sample.store.unverifiedWebhooks(after: waiting.last, limit: 5)
        #expect(Set((waiting + more).map(\.webhook.id)) == [mine.id, theirs.id])
        try await sample.store.finishVerification(of: mine, failure: nil, in: sample.application)
        try await sample.store.finishVerification(of: theirs, failure: "no", in: other)
        #expect(try await sample.store.unverifiedWebhooks().isEmpty)
        #expect(try await sample.store.activeWebhooks().map(\.webhook.id) == [mine.id])
    }

    @Test func `receive events from the end of the log at activation on (webhooks 1_3)`()
        async throws
    {
        let sample = try await SampleApplication()
        let webhook = try await sample.registerWebhook()
        let end = try await sample.store.logExtent(in: sample.application).end
        try await sample.store.finishVerification(of: webhook, failure: nil, in: sample.application)
        #expect(
            try await sample.store.webhook(webhook.id, in: sample.application).status
                == .active(since: end))
    }

    @Test func `are not activated by a verification that finishes late (webhooks 1_3)`()
        async throws
    {
        let sample = try await SampleApplication()
        let webhook = try await sample.registerWebhook()
        try await sample.store.deleteWebhook(webhook.id, in: sample.application)
        try await sample.store.finishVerification(of: webhook, failure: nil, in: sample.application)
        #expect(try await sample.store.webhooks(limit: 5, in: sample.application).total == 0)
    }

    @Test func `are deleted only at the version that the caller states (X4)`() async throws {
        let sample = try await SampleApplication()
        let webhook = try await sample.registerWebhook()
        let late = try await sample.store.deactivateWebhook(webhook.id, in: sample.application)
        await #expect(throws: VersionMismatch<Webhook>.self) {
            try await sample.store.deleteWebhook(
                webhook.id, if: VersionPrecondition { version in version == webhook.version },
                in: sample.application)
        }
        #expect(try await sample.store.webhook(webhook.id, in: sample.application) == late)
    }
}

extension SampleApplication {
    @discardableResult
    func registerWebhook(
        in application: Application.ID? = nil, config: [Webhook.Setting]? = nil
    ) async throws -> Webhook {
        try await store.createWebhook(
            Webhook.Draft(
                payloadVersion: .v1_0, target: "https://hooks.example.org/in",
                topics: [.messageSent, .messageRead], secret: "s3cret", config: config),
            in: application ?? self.application)
    }
}
