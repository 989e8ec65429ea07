import Bytes
import HTTP
import Messaging
import MessagingStore
import MessagingWire
import SystemSupport
import TestSupport
import Testing

@testable import Readers

@Suite(.timeLimit(.minutes(15))) struct `A webhook` {
    @Test func `receives later events in order, with both signatures (X6)`() async throws {
        let office = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let talk = try await office.conversation()
        try await office.say("before", in: talk)
        let webhook = try await office.activate(receiver.url)
        for number in 0..<20 { try await office.say("\(number)", in: talk) }
        try await office.expect(20, .delivered, of: webhook)
        #expect(receiver.hits.map(\.words) == (0..<20).map { "\($0)" })

        let hit = try #require(receiver.hits.first)
        let delivery = try #require(try await office.deliveries(of: webhook).first)
        #expect(hit.head.hasPrefix("POST /in?a=b HTTP/1.1\r\n"))
        #expect(hit.field("layer-webhook-event-type") == "Message.created")
        #expect(hit.field("layer-webhook-request-id") == delivery.event.uuid)
        #expect(hit.field("webhook-id") == delivery.event.uuid)
        #expect(
            hit.field("layer-webhook-signature")
                == LayerWebhookSignature.of(hit.body, secret: "s3cret"))
        #expect(hit.field("content-length") == "\(hit.body.count)")
        #expect(hit.field("transfer-encoding") == nil)
        #expect(
            hit.field("layer-webhook-id")
                == "layer:///apps/\(office.application)/webhooks/\(webhook.id)")
        #expect(hit.field("user-agent") == "layer-webhooks/1.0")
        #expect(
            hit.field("content-type") == "application/vnd.layer.webhooks+json; version=2.0")
        #expect(
            Set(hit.names) == [
                "host", "accept", "user-agent", "content-type", "content-length",
                "layer-webhook-event-type", "layer-webhook-signature", "layer-webhook-request-id",
                "layer-webhook-id", "webhook-id", "webhook-timestamp", "webhook-signature",
            ])
        let moment = try #require(hit.field("webhook-timestamp"))
        let signed = Array("\(delivery.event.uuid).\(moment).\(hit.text)".utf8)
        let code = Signature.of(signed, key: Array("s3cret".utf8), by: .sha256)
        #expect(hit.field("webhook-signature") == "v1,\(Base64.encode(code))")
        #expect(delivery.state == .delivered && delivery.attempts == 1)
        #expect(delivery.answer == .init(status: 204, failure: nil))
        await office.close()
        #expect(office.reported == [])
    }

    @Test
    func `retries a failed delivery before later ones of its conversation, not of others (X6)`()
        async throws
    {
        let office = try await WebhookFixture()
        let failures = Locked(2)
        let receiver = try TestWebhookTarget { connection, hit, _ in
            let fails = failures.withLock { failures -> Bool in
                guard hit.words == "a0", failures > 0 else { return false }
                failures -= 1
                return true
            }
            return connection.write(
                fails
                    ? "HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno" : TestWebhookTarget.taken)
        }
        let (first, second) = try await (office.conversation(), office.conversation())
        let webhook = try await office.activate(receiver.url)
        for number in 0..<5 {
            try await office.say("a\(number)", in: first)
            try await office.say("b\(number)", in: second)
        }
        try await office.expect(10, .delivered, of: webhook)
        let words = receiver.hits.map(\.words)
        let numbers = (0..<5).map { "\($0)" }
        #expect(words.filter { $0.hasPrefix("a") } == ["a0", "a0"] + numbers.map { "a\($0)" })
        #expect(words.filter { $0.hasPrefix("b") } == numbers.map { "b\($0)" })
        // The same id in all attempts, with a new signature each.
        let tries = receiver.hits.filter { $0.words == "a0" }
        #expect(Set(tries.compactMap { $0.field("webhook-id") }).count == 1)
        let delivery = try #require(
            try await office.deliveries(of: webhook).first { $0.attempts > 1 })
        #expect(delivery.attempts == 3)
        await office.close()
        #expect(office.reported == [])
    }

    @Test func `that is slow or unreachable delays neither other webhooks nor requests (X6)`()
        async throws
    {
        let office = try await WebhookFixture.waiting(5000)
        let slow = try TestWebhookTarget { connection, _, _ in connection.read(1) != nil }
        let good = try TestWebhookTarget()
        let (stuck, webhook) = try await (office.activate(slow.url), office.activate(good.url))
        for number in 0..<40 {
            try await office.say("\(number)", in: try await office.conversation())
        }
        try await office.expect(40, .delivered, of: webhook)
        // Forty responses that never come: five seconds each, sixteen at a time.
        #expect(try await office.deliveries(of: stuck, .pending).count > 0)
        #expect(try await office.deliveries(of: stuck, .delivered).isEmpty)
        await office.close()
        #expect(office.reported == [])
    }

    @Test func `receives unacknowledged deliveries again after a stop, and no others (X6)`()
        async throws
    {
        let office = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let talk = try await office.conversation()
        let webhook = try await office.activate(receiver.url)
        for number in 0..<60 {
            try await office.say("\(number)", in: talk)
            guard number % 20 == 10 else { continue }
            await office.close()
            office.open()
        }
        try await office.expect(60, .delivered, of: webhook)
        // A stop waits for running attempts, so nothing is sent twice.
        #expect(receiver.hits.map(\.words) == (0..<60).map { "\($0)" })
        await office.close()
        #expect(office.reported == [])
    }

    @Test func `receives nothing while inactive, and later nothing of that time (webhooks 1_3)`()
        async throws
    {
        let office = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let talk = try await office.conversation()
        let webhook = try await office.activate(receiver.url)
        try await office.say("one", in: talk)
        try await office.expect(1, .delivered, of: webhook)
        _ = try await office.store.deactivateWebhook(webhook.id, in: office.application)
        try await office.say("two", in: talk)
        _ = try await office.store.activateWebhook(webhook.id, in: office.application)
        try await expectSoon("it is active again") {
            if case .active = try await office.status(of: webhook) { true } else { false }
        }
        try await office.say("three", in: talk)
        try await office.expect(2, .delivered, of: webhook)
        #expect(receiver.hits.map(\.words) == ["one", "three"])
        await office.close()
        #expect(office.reported == [])
    }

    @Test
    func
        `receives all events of the time it was active, however late the log is read (webhooks 1_3)`()
        async throws
    {
        let office = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let talk = try await office.conversation()
        let webhook = try await office.activate(receiver.url)
        await office.close()
        for number in 0..<100 { try await office.say("\(number)", in: talk) }
        _ = try await office.store.deactivateWebhook(webhook.id, in: office.application)
        try await office.say("not this", in: talk)
        office.open()
        try await office.expect(100, .pending, of: webhook)
        #expect(receiver.hits.isEmpty)
        _ = try await office.store.activateWebhook(webhook.id, in: office.application)
        try await office.expect(100, .delivered, of: webhook)
        try await office.say("100", in: talk)
        try await office.expect(101, .delivered, of: webhook)
        #expect(receiver.hits.map(\.words) == (0...100).map { "\($0)" })
        await office.close()
        #expect(office.reported == [])
    }

    @Test func `signs with both secrets while one replaces the other (X6)`() async throws {
        let office = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let talk = try await office.conversation()
        let webhook = try await office.activate(receiver.url)
        _ = try await office.store.rotateSecret(
            to: "n3w", keeping: 60_000, of: webhook.id, in: office.application)
        try await office.say("one", in: talk)
        try await office.expect(1, .delivered, of: webhook)
        _ = try await office.store.rotateSecret(
            to: "n3wer", keeping: 0, of: webhook.id, in: office.application)
        try await office.say("two", in: talk)
        try await office.expect(2, .delivered, of: webhook)
        let signatures = receiver.hits.map { hit in
            hit.field("webhook-signature")?.split(separator: " ").count
        }
        #expect(signatures == [2, 1])
        #expect(
            receiver.hits.map { $0.field("layer-webhook-signature") }
                == zip(receiver.hits, ["n3w", "n3wer"]).map { hit, secret in
                    LayerWebhookSignature.of(hit.body, secret: secret)
                })
        await office.close()
        #expect(office.reported == [])
    }

    @Test func `receives a replayed range of the log and a test event (X6)`() async throws {
        let office = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let talk = try await office.conversation()
        for number in 0..<100 { try await office.say("\(number)", in: talk) }
        let end = try await office.store.logExtent(in: office.application).end
        let webhook = try await office.activate(receiver.url)
        _ = try await office.store.replay(
            after: LogPosition(end.number - 90), before: LogPosition(end.number - 10),
            to: webhook.id, in: office.application)
        try await office.expect(79, .delivered, of: webhook)
        #expect(receiver.hits.map(\.words) == (10..<89).map { "\($0)" })
        let test = try await office.store.testDelivery(
            { webhook, event, moment in
                DeliveryDraft(
                    webhook: webhook.id, event: event, type: WebhookTestJSON.type, position: nil,
                    conversation: nil, body: WebhookTestJSON.body(event, at: moment, to: webhook))
            }, of: webhook.id, in: office.application)
        #expect(test.position == nil && test.conversation == nil)
        try await office.expect(80, .delivered, of: webhook)
        let hit = try #require(receiver.hits.last)
        #expect(hit.field("layer-webhook-event-type") == "webhook.test")
        #expect(hit.text.contains(#""type":"webhook.test""#))
        await office.close()
        #expect(office.reported == [])
    }

    @Test func `receives the trace of the request, with a span for each attempt (X5)`()
        async throws
    {
        let office = try await WebhookFixture()
        let failures = Locked(2)
        let receiver = try TestWebhookTarget { connection, _, _ in
            let fails = failures.withLock { failures -> Bool in
                failures -= 1
                return failures >= 0
            }
            return connection.write(
                fails ? "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n" : TestWebhookTarget.taken)
        }
        let talk = try await office.conversation()
        let webhook = try await office.activate(receiver.url)
        let place = try await office.store.logExtent(in: office.application).end
        let trace = Trace(id: "0af7651916cd43dd8448eb211c80319c", flags: 1)
        try await office.say("traced", in: talk, within: trace)
        try await office.say("not", in: talk)
        try await office.expect(2, .delivered, of: webhook)
        _ = try await office.store.replay(
            after: place, before: nil, to: webhook.id, in: office.application)
        try await office.expect(4, .delivered, of: webhook)
        let hits = receiver.hits
        #expect(hits.map(\.words) == ["traced", "traced", "traced", "not", "traced", "not"])
        let lines = hits.filter { $0.words == "traced" }.compactMap { $0.field("traceparent") }
        let steps = lines.compactMap { line in
            line.wholeMatch(of: /00-0af7651916cd43dd8448eb211c80319c-([0-9a-f]{16})-01/)?.1
        }
        #expect(Set(steps).count == 4)
        let others = hits.filter { $0.words == "not" }
        #expect(others.allSatisfy { $0.field("traceparent") == nil })
        #expect(hits.allSatisfy { $0.field("tracestate") == nil })
        await office.close()
        #expect(office.reported == [])
    }
}

@Suite struct `The signature of Standard Webhooks` {
    @Test func `equals that of its libraries (X6)`() {
        let signature = StandardWebhookHeaders.signature(
            "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", Array(#"{"test": 2432232314}"#.utf8),
            secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(arguments: [
        ("s3cret", "s3cret"), ("whsec_", "whsec_"), ("whsec_not base64", "whsec_not base64"),
        ("whsec_czNjcmV0", "s3cret"),
    ]) func `has the secret's bytes, or the bytes it encodes, as its key`(
        secret: String, key: String
    ) {
        #expect(StandardWebhookHeaders.key(of: secret) == Array(key.utf8))
    }
}
