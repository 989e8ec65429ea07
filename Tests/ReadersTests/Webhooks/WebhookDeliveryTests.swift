import Bytes
import Glibc
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
        let fixture = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let conversation = try await fixture.conversation()
        try await fixture.send("before", in: conversation)
        let webhook = try await fixture.activate(receiver.url)
        for number in 0..<20 { try await fixture.send("\(number)", in: conversation) }
        try await fixture.expect(20, .delivered, of: webhook)
        #expect(receiver.requests.map(\.messageText) == (0..<20).map { "\($0)" })

        let request = try #require(receiver.requests.first)
        let delivery = try #require(try await fixture.deliveries(of: webhook).first)
        #expect(request.head.hasPrefix("POST /in?a=b HTTP/1.1\r\n"))
        #expect(request.field("layer-webhook-event-type") == "Message.created")
        #expect(request.field("layer-webhook-request-id") == delivery.event.uuid)
        #expect(request.field("webhook-id") == delivery.event.uuid)
        #expect(
            request.field("layer-webhook-signature")
                == LayerWebhookSignature.of(request.body, secret: "s3cret"))
        #expect(request.field("content-length") == "\(request.body.count)")
        #expect(request.field("transfer-encoding") == nil)
        #expect(
            request.field("layer-webhook-id")
                == "layer:///apps/\(fixture.application)/webhooks/\(webhook.id)")
        #expect(request.field("user-agent") == "layer-webhooks/1.0")
        #expect(
            request.field("content-type") == "application/vnd.layer.webhooks+json; version=2.0")
        #expect(
            Set(request.names) == [
                "host", "accept", "user-agent", "content-type", "content-length",
                "layer-webhook-event-type", "layer-webhook-signature", "layer-webhook-request-id",
                "layer-webhook-id", "webhook-id", "webhook-timestamp", "webhook-signature",
            ])
        let moment = try #require(request.field("webhook-timestamp"))
        let signed = Array("\(delivery.event.uuid).\(moment).\(request.text)".utf8)
        let code = Signature.of(signed, key: Array("s3cret".utf8), by: .sha256)
        #expect(request.field("webhook-signature") == "v1,\(Base64.encode(code))")
        #expect(delivery.state == .delivered && delivery.attempts == 1)
        #expect(delivery.answer == .init(status: 204, failure: nil))
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test
    func `retries a failed delivery before later ones of its conversation, not of others (X6)`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let failures = Locked(2)
        let receiver = try TestWebhookTarget { connection, request, _ in
            let fails = failures.withLock { failures -> Bool in
                guard request.messageText == "a0", failures > 0 else { return false }
                failures -= 1
                return true
            }
            return connection.write(
                fails
                    ? "HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno" : TestWebhookTarget.noContent
            )
        }
        let (first, second) = try await (fixture.conversation(), fixture.conversation())
        let webhook = try await fixture.activate(receiver.url)
        for number in 0..<5 {
            try await fixture.send("a\(number)", in: first)
            try await fixture.send("b\(number)", in: second)
        }
        try await fixture.expect(10, .delivered, of: webhook)
        let texts = receiver.requests.map(\.messageText)
        let numbers = (0..<5).map { "\($0)" }
        #expect(texts.filter { $0.hasPrefix("a") } == ["a0", "a0"] + numbers.map { "a\($0)" })
        #expect(texts.filter { $0.hasPrefix("b") } == numbers.map { "b\($0)" })
        // The same id in all attempts, with a new signature each.
        let tries = receiver.requests.filter { $0.messageText == "a0" }
        #expect(Set(tries.compactMap { $0.field("webhook-id") }).count == 1)
        let delivery = try #require(
            try await fixture.deliveries(of: webhook).first { $0.attempts > 1 })
        #expect(delivery.attempts == 3)
        let log = try #require(delivery.log)
        #expect(log.attempts.map(\.answer.status) == [500, 500, 204])
        #expect(log.attempts.map(\.response) == [Array("no".utf8), Array("no".utf8), []])
        let sent = log.headerNames.firstIndex(of: "webhook-signature").map { log.headerValues[$0] }
        #expect(sent == tries.last?.field("webhook-signature"))
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test func `that is slow or unreachable delays neither other webhooks nor requests (X6)`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let isReleased = Locked(false)
        defer { isReleased.withLock { isReleased in isReleased = true } }
        let slow = try TestWebhookTarget { _, _, _ in
            while !isReleased.withLock({ isReleased in isReleased }) { usleep(10_000) }
            return false
        }
        let good = try TestWebhookTarget()
        let (stuck, webhook) = try await (fixture.activate(slow.url), fixture.activate(good.url))
        for number in 0..<40 {
            try await fixture.send("\(number)", in: try await fixture.conversation())
        }
        try await fixture.expect(40, .delivered, of: webhook)
        #expect(try await fixture.deliveries(of: stuck, .pending).count == 40)
        isReleased.withLock { isReleased in isReleased = true }
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test func `receives unacknowledged deliveries again after a stop, and no others (X6)`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let conversation = try await fixture.conversation()
        let webhook = try await fixture.activate(receiver.url)
        for number in 0..<60 {
            try await fixture.send("\(number)", in: conversation)
            guard number % 20 == 10 else { continue }
            await fixture.close()
            fixture.open()
        }
        try await fixture.expect(60, .delivered, of: webhook)
        // A stop waits for running attempts, so nothing is sent twice.
        #expect(receiver.requests.map(\.messageText) == (0..<60).map { "\($0)" })
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test func `receives no events of a time when it was inactive (webhooks 1_3)`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let conversation = try await fixture.conversation()
        let webhook = try await fixture.activate(receiver.url)
        try await fixture.send("one", in: conversation)
        try await fixture.expect(1, .delivered, of: webhook)
        _ = try await fixture.store.deactivateWebhook(webhook.id, in: fixture.application)
        try await fixture.send("two", in: conversation)
        _ = try await fixture.store.activateWebhook(webhook.id, in: fixture.application)
        try await expectSoon("the webhook is active again") {
            if case .active = try await fixture.status(of: webhook) { true } else { false }
        }
        try await fixture.send("three", in: conversation)
        try await fixture.expect(2, .delivered, of: webhook)
        #expect(receiver.requests.map(\.messageText) == ["one", "three"])
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test
    func
        `receives all events of the time it was active, however late the log is read (webhooks 1_3)`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let conversation = try await fixture.conversation()
        let webhook = try await fixture.activate(receiver.url)
        await fixture.close()
        for number in 0..<100 { try await fixture.send("\(number)", in: conversation) }
        _ = try await fixture.store.deactivateWebhook(webhook.id, in: fixture.application)
        try await fixture.send("not this", in: conversation)
        fixture.open()
        try await fixture.expect(100, .pending, of: webhook)
        #expect(receiver.requests.isEmpty)
        _ = try await fixture.store.activateWebhook(webhook.id, in: fixture.application)
        try await fixture.expect(100, .delivered, of: webhook)
        try await fixture.send("100", in: conversation)
        try await fixture.expect(101, .delivered, of: webhook)
        #expect(receiver.requests.map(\.messageText) == (0...100).map { "\($0)" })
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test func `signs with both secrets while one replaces the other (X6)`() async throws {
        let fixture = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let conversation = try await fixture.conversation()
        let webhook = try await fixture.activate(receiver.url)
        _ = try await fixture.store.rotateSecret(
            to: "n3w", keeping: 60_000, of: webhook.id, in: fixture.application)
        try await fixture.send("one", in: conversation)
        try await fixture.expect(1, .delivered, of: webhook)
        _ = try await fixture.store.rotateSecret(
            to: "n3wer", keeping: 0, of: webhook.id, in: fixture.application)
        try await fixture.send("two", in: conversation)
        try await fixture.expect(2, .delivered, of: webhook)
        let signatures = receiver.requests.map { request in
            request.field("webhook-signature")?.split(separator: " ").count
        }
        #expect(signatures == [2, 1])
        #expect(
            receiver.requests.map { $0.field("layer-webhook-signature") }
                == zip(receiver.requests, ["n3w", "n3wer"]).map { request, secret in
                    LayerWebhookSignature.of(request.body, secret: secret)
                })
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test func `receives a replayed range of the log and a test event (X6)`() async throws {
        let fixture = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let conversation = try await fixture.conversation()
        for number in 0..<100 { try await fixture.send("\(number)", in: conversation) }
        let end = try await fixture.store.logExtent(in: fixture.application).end
        let webhook = try await fixture.activate(receiver.url)
        _ = try await fixture.store.replay(
            after: LogPosition(end.number - 90), before: LogPosition(end.number - 10),
            to: webhook.id, in: fixture.application)
        try await fixture.expect(79, .delivered, of: webhook)
        #expect(receiver.requests.map(\.messageText) == (10..<89).map { "\($0)" })
        let test = try await fixture.store.testDelivery(
            { webhook, event, moment in
                DeliveryDraft(
                    webhook: webhook.id, event: event, type: WebhookTestJSON.type, position: nil,
                    conversation: nil, body: WebhookTestJSON.body(event, at: moment, to: webhook))
            }, of: webhook.id, in: fixture.application)
        #expect(test.position == nil && test.conversation == nil)
        try await fixture.expect(80, .delivered, of: webhook)
        let request = try #require(receiver.requests.last)
        #expect(request.field("layer-webhook-event-type") == "webhook.test")
        #expect(request.text.contains(#""type":"webhook.test""#))
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test func `receives the trace of the request, with a span for each attempt (X5)`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let failures = Locked(2)
        let receiver = try TestWebhookTarget { connection, _, _ in
            let fails = failures.withLock { failures -> Bool in
                failures -= 1
                return failures >= 0
            }
            return connection.write(
                fails ? "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n" : TestWebhookTarget.noContent
            )
        }
        let conversation = try await fixture.conversation()
        let webhook = try await fixture.activate(receiver.url)
        let position = try await fixture.store.logExtent(in: fixture.application).end
        let trace = Trace(id: "0af7651916cd43dd8448eb211c80319c", flags: 1)
        try await fixture.send("traced", in: conversation, within: trace)
        try await fixture.send("not", in: conversation)
        try await fixture.expect(2, .delivered, of: webhook)
        _ = try await fixture.store.replay(
            after: position, before: nil, to: webhook.id, in: fixture.application)
        try await fixture.expect(4, .delivered, of: webhook)
        let requests = receiver.requests
        #expect(
            requests.map(\.messageText) == ["traced", "traced", "traced", "not", "traced", "not"])
        let lines = requests.filter { $0.messageText == "traced" }.compactMap {
            $0.field("traceparent")
        }
        let steps = lines.compactMap { line in
            line.wholeMatch(of: /00-0af7651916cd43dd8448eb211c80319c-([0-9a-f]{16})-01/)?.1
        }
        #expect(Set(steps).count == 4)
        let others = requests.filter { $0.messageText == "not" }
        #expect(others.allSatisfy { $0.field("traceparent") == nil })
        #expect(requests.allSatisfy { $0.field("tracestate") == nil })
        await fixture.close()
        #expect(fixture.reported == [])
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
    ]) func `uses the secret's bytes, or the bytes it encodes, as key`(
        secret: String, key: String
    ) {
        #expect(StandardWebhookHeaders.key(of: secret) == Array(key.utf8))
    }
}
