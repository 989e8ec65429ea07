import Testing

@testable import Messaging

@Suite struct `The status of a webhook` {
    private static let end = LogPosition(7)

    @Test func `is unverified at first, and active once its target is verified (webhooks 1_3)`()
        throws
    {
        let webhook = try Self.made()
        #expect(webhook.status == .unverified && webhook.version == 1)
        let active = webhook.verified(webhook, failure: nil, endOfLog: Self.end)
        #expect(active.status == .active(since: Self.end) && active.version == 2)
    }

    @Test func `is inactive with the reason when its verification fails (webhooks 1_3, 2)`()
        throws
    {
        let webhook = try Self.made()
        let inactive = webhook.verified(webhook, failure: "why", endOfLog: Self.end)
        #expect(inactive.status == .inactive(reason: "why"))
    }

    @Test func `is not changed by the result of an earlier verification (webhooks 1_3)`() throws {
        let asked = try Self.made()
        let again = asked.deactivating(because: Webhook.deactivatedByUser).activating()
        #expect(again.status == .unverified && again.version == 3)
        #expect(again.verified(asked, failure: nil, endOfLog: Self.end) == again)
        let ended = asked.deactivating(because: "x")
        #expect(ended.verified(asked, failure: nil, endOfLog: Self.end) == ended)
    }

    @Test func `can be activated only when inactive (webhooks 1_2)`() throws {
        let webhook = try Self.made()
        let active = webhook.verified(webhook, failure: nil, endOfLog: Self.end)
        #expect(webhook.activating() == webhook)
        #expect(active.activating() == active)
        #expect(active.deactivating(because: "x").activating().status == .unverified)
    }

    @Test func `keeps its version when nothing changes (X4)`() throws {
        let ended = try Self.made().deactivating(because: "x")
        #expect(ended.deactivating(because: "x") == ended)
        #expect(ended.deactivating(because: "y").version == ended.version + 1)
    }

    // MARK: - Registration

    @Test(arguments: WebhookVersion.allCases)
    func `accepts the topics of its version and no others (webhooks 1_2, 4_2)`(
        version: WebhookVersion
    ) throws {
        for topic in WebhookTopic.allCases {
            if topic.versions.contains(version) {
                #expect(try Self.draft(version, [topic]).topics == [topic])
            } else {
                #expect(throws: Rejection.invalid("events", .webhookEvents)) {
                    try Self.draft(version, [topic])
                }
            }
        }
    }

    @Test func `needs topics and a secret, and limits its config (webhooks 1_2)`() throws {
        #expect(throws: Rejection.invalid("events", .webhookEvents)) { try Self.draft(topics: []) }
        #expect(throws: Rejection.invalid("secret", .webhookSecret)) { try Self.draft(secret: "") }
        #expect(throws: Rejection.invalid("secret", .webhookSecret)) {
            try Self.draft(secret: "a\u{0}")
        }
        #expect(throws: Rejection.invalid("config", .webhookConfigSize, .init(amount: 2049))) {
            try Self.draft(config: [
                Webhook.Setting(name: "a", value: String(repeating: "b", count: 2048))
            ])
        }
        #expect(
            try Self.draft(topics: [.messageRead, .messageSent, .messageRead]).topics == [
                .messageRead, .messageSent,
            ])
    }

    private static func draft(
        _ version: WebhookVersion = .v1_0, _ topics: [WebhookTopic]
    ) throws -> Webhook.Draft {
        try draft(version, topics: topics)
    }

    private static func draft(
        _ version: WebhookVersion = .v1_0, topics: [WebhookTopic] = [.messageSent],
        secret: String = "s",
        config: [Webhook.Setting]? = nil
    ) throws -> Webhook.Draft {
        try Webhook.Draft(
            payloadVersion: version, target: "https://hooks.example.org/in", topics: topics,
            secret: secret, config: config)
    }

    private static func made() throws -> Webhook {
        try draft().makeWebhook(
            id: .v7(at: Timestamp(milliseconds: 1), random: 1), at: Timestamp(milliseconds: 1))
    }
}

@Suite struct `The schedule of retries` {
    @Test func `takes about 75 hours (X6)`() {
        #expect(RetrySchedule.default.span == 272_105_000)
    }

    @Test(arguments: 1...9) func `varies its delays by at most a fifth (X6)`(attempts: Int64) throws
    {
        let schedule = RetrySchedule.default
        let now = Timestamp(milliseconds: 1_000_000)
        let wait = schedule.waits[Int(attempts) - 1]
        for (chance, bound) in [(0.0, wait * 8 / 10), (0.5, wait), (1.0, wait * 12 / 10)] {
            let next = try #require(
                schedule.next(after: attempts, requested: now, now: now, chance: chance))
            #expect(abs(next.milliseconds - now.milliseconds - bound) <= 1)
        }
    }

    @Test func `ends after its last delay, and for deliveries older than all of it`() {
        let schedule = RetrySchedule(waits: [40_000, 50_000])
        let start = Timestamp(milliseconds: 5000)
        let next = { (attempts: Int64, elapsed: Int64) in
            schedule.next(
                after: attempts, requested: start, now: Timestamp(milliseconds: 5000 + elapsed),
                chance: 0.5)
        }
        #expect(next(2, 0) != nil)
        #expect(next(3, 0) == nil)
        #expect(next(1, 90_000) != nil)
        #expect(next(1, 90_001) == nil)
        // A running attempt keeps the remaining attempts of its delivery.
        #expect(next(2, 1_000_000) != nil)
        #expect(
            RetrySchedule(waits: []).next(after: 1, requested: start, now: start, chance: 0) == nil)
    }
}
