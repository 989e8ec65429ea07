import Glibc
import HTTP
import HTTPTransport
import Messaging
import MessagingStore
import SystemSupport
import TestSupport
import Testing

@testable import Readers

/// Targets that misbehave.
@Suite(.timeLimit(.minutes(15))) struct `A delivery` {
    @Test(
        arguments: [
            (
                "HTTP/1.1 500 Whatever\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 500,
                "500 Internal Server Error"
            ),
            (
                "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nConnection: close\r\n\r\n",
                301,
                "301 Moved Permanently"
            ),
            ("HTTP/1.1 599 Odd\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 599, "599"),
            ("", nil, "a connection error"), ("HTTP/1.1 20", nil, "a connection error"),
            ("HTTP/1.1 200 OK\r\nX: y\r\n", nil, "a connection error"),
            ("nonsense\r\n\r\n", nil, "a connection error"),
        ] as [(String, Int64?, String)])
    func `that fails is retried by the schedule and then becomes a dead letter (X6)`(
        response: String, status: Int64?, failure: String
    ) async throws {
        let fixture = try await WebhookFixture()
        let receiver = try TestWebhookTarget(closingAfter: response)
        let webhook = try await fixture.activate(receiver.url)
        try await fixture.send("one", in: try await fixture.conversation())
        try await fixture.expect(1, .dead, of: webhook)
        let delivery = try #require(try await fixture.deliveries(of: webhook).first)
        #expect(delivery.attempts == 3 && receiver.requests.count == 3)
        #expect(delivery.answer == .init(status: status, failure: failure))
        #expect(delivery.nextAt == nil && delivery.finishedAt != nil)
        // It is not lost: a replay sends it again, from the start of the schedule.
        let again = try await fixture.store.retryDelivery(
            delivery.id, of: webhook.id, in: fixture.application)
        #expect(again.state == .pending && again.attempts == 0)
        try await fixture.expect(1, .dead, of: webhook)
        #expect(receiver.requests.count == 6)
        if case .active = try await fixture.status(of: webhook) {
        } else {
            Issue.record("The webhook is inactive.")
        }
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "HTTP/1.1 299 Odd\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
    ]) func `is accepted with a 2xx status, whatever follows (webhooks 3_3)`(response: String)
        async throws
    {
        let fixture = try await WebhookFixture()
        let receiver = try TestWebhookTarget(closingAfter: response)
        let webhook = try await fixture.activate(receiver.url)
        try await fixture.send("one", in: try await fixture.conversation())
        try await fixture.expect(1, .delivered, of: webhook)
        #expect(receiver.requests.count == 1)
        await fixture.close()
    }

    @Test func `reads only the start of a response of 100 MB`() async throws {
        let fixture = try await WebhookFixture()
        let sent = Locked(0)
        let receiver = try TestWebhookTarget { connection, _, _ in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(100 << 20)\r\n\r\n")
            let piece = [UInt8](repeating: 1, count: 64 << 10)
            while connection.write(piece) { sent.withLock { $0 += piece.count } }
            return false
        }
        let webhook = try await fixture.activate(receiver.url)
        try await fixture.send("one", in: try await fixture.conversation())
        try await fixture.expect(1, .delivered, of: webhook)
        await fixture.close()
        // The size of both socket buffers.
        #expect(sent.withLock { $0 } < 32 << 20)
    }

    @Test(arguments: [false, true])
    func `without a response in time fails as a timeout`(sendsSlowly: Bool)
        async throws
    {
        let fixture = try await WebhookFixture.waiting(500)
        let receiver = try TestWebhookTarget { connection, _, _ in
            // Single bytes keep the connection busy but are no response.
            if sendsSlowly { connection.write("HTTP/1.1 200 OK\r\nX: ") }
            while sendsSlowly, connection.write("x") { usleep(50_000) }
            return connection.read(1) != nil
        }
        let webhook = try await fixture.activate(receiver.url)
        try await fixture.send("one", in: try await fixture.conversation())
        try await fixture.expect(1, .dead, of: webhook)
        let delivery = try #require(try await fixture.deliveries(of: webhook).first)
        #expect(delivery.answer == .init(status: nil, failure: "a timeout"))
        await fixture.close()
    }

    /// The delivery to a target that was marked as verified although it cannot be reached.
    private func refused(by fixture: WebhookFixture, to webhook: Webhook) async throws
        -> WebhookDelivery
    {
        try await expectSoon("the webhook is inactive") {
            try await fixture.status(of: webhook)
                == .inactive(reason: "Verification failed due to a connection error")
        }
        await fixture.close()
        let again = try await fixture.store.activateWebhook(webhook.id, in: fixture.application)
        try await fixture.store.finishVerification(of: again, failure: nil, in: fixture.application)
        try await fixture.send("one", in: try await fixture.conversation())
        fixture.open()
        try await fixture.expect(1, .dead, of: webhook)
        return try #require(try await fixture.deliveries(of: webhook).first)
    }

    @Test func `never connects to a forbidden address, whatever the host name (X6)`()
        async throws
    {
        var settings = WebhookFixture.quick
        settings.targets.allowedNetworks = []
        let fixture = try await WebhookFixture(settings)
        let receiver = try TestWebhookTarget()
        // Registered when its name resolved to another address.
        let webhook = try await fixture.register("http://localhost:\(receiver.port)/")
        let delivery = try await refused(by: fixture, to: webhook)
        #expect(delivery.answer?.failure == "an address that may not be called")
        await fixture.close()
        #expect(receiver.requests.isEmpty)
    }

    @Test func `is not sent to a server with an untrusted certificate`() async throws {
        let folder = TemporaryFolder()
        let pair = try DevelopmentCertificate.write(to: folder.path, hosts: [])
        var configuration = ServerConfiguration()
        configuration.addresses = []
        var tls = TLSConfiguration()
        tls.addresses = [.ipv4(0x7F00_0001, port: 0)]
        tls.certificates = [pair]
        configuration.tls = tls
        let server = try Server(configuration, service: EmptyService())
        let fixture = try await WebhookFixture()
        let webhook = try await fixture.register("https://\(try server.start()[0])/in")
        // Also if the certificate was valid at first.
        let delivery = try await refused(by: fixture, to: webhook)
        #expect(delivery.answer == .init(status: nil, failure: "a TLS error"))
        await fixture.close()
        _ = await server.drain(deadline: 0)
    }

    @Test func `that is answered with 410 deactivates its webhook (X6)`() async throws {
        let fixture = try await WebhookFixture()
        let receiver = try TestWebhookTarget(
            answering: "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")
        let webhook = try await fixture.activate(receiver.url)
        let conversation = try await fixture.conversation()
        for number in 0..<3 { try await fixture.send("\(number)", in: conversation) }
        try await expectSoon("the webhook is inactive") {
            try await fixture.status(of: webhook)
                == .inactive(reason: "Delivery failed: 410 Gone")
        }
        await fixture.close()
        #expect(receiver.requests.count == 1)
        #expect(fixture.deactivated == ["Delivery failed: 410 Gone"])
        #expect(
            try await fixture.changes(of: webhook)
                == [webhook.status, .inactive(reason: "Delivery failed: 410 Gone")])
        #expect(try await fixture.deliveries(of: webhook, .dead).count == 1)
        // The next supervisor sends all deliveries, also those created after the response.
        fixture.open()
        try await fixture.expect(2, .pending, of: webhook)
        await fixture.close()
        fixture.open()
        try await expectSoon("the deliveries are counted") {
            fixture.statistics.backlog.dead == 1 && fixture.statistics.backlog.pending == 2
        }
        await fixture.close()
    }

    @Test func `counts towards the failure share that deactivates a webhook (X6)`() async throws {
        var settings = WebhookFixture.quick
        settings.deadShare = 50
        settings.schedule = RetrySchedule(waits: [])
        let fixture = try await WebhookFixture(settings)
        let receiver = try TestWebhookTarget { connection, request, _ in
            connection.write(
                request.messageText.hasPrefix("bad")
                    ? "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n" : TestWebhookTarget.noContent)
        }
        let webhook = try await fixture.activate(receiver.url)
        let conversation = try await fixture.conversation()
        // Ten of twenty is exactly half.
        for number in 0..<20 {
            try await fixture.send(number.isMultiple(of: 2) ? "good" : "bad", in: conversation)
        }
        try await fixture.expect(10, .dead, of: webhook)
        if case .active = try await fixture.status(of: webhook) {
        } else {
            Issue.record("The webhook is inactive.")
        }
        try await fixture.send("bad", in: conversation)
        try await expectSoon("the webhook is inactive") {
            try await fixture.status(of: webhook)
                == .inactive(reason: "Delivery failed: 503 Service Unavailable")
        }
        await fixture.close()
        #expect(
            try await fixture.changes(of: webhook)
                == [webhook.status, .inactive(reason: "Delivery failed: 503 Service Unavailable")])
    }

    @Test(arguments: [
        (
            "HTTP/1.1 404 Nope\r\nContent-Length: 0\r\n\r\n",
            "unexpected response status: 404 Not Found"
        ),
        (
            "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
            "unexpected response status: 302 Found"
        ),
        ("HTTP/1.1 204 Ok\r\n\r\n", "unexpected response status: 204 No Content"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong", "unexpected response body"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "unexpected response body"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n", "a connection error"),
        ("", "a connection error"),
    ]) func `is not sent before its webhook is verified (webhooks 2)`(
        response: String, reason: String
    ) async throws {
        let fixture = try await WebhookFixture()
        let heads = Locked<[String]>([])
        let server = try ScriptedServer { connection in
            guard let head = connection.readHead() else { return }
            heads.withLock { $0.append(head) }
            connection.write(response)
        }
        let webhook = try await fixture.register("http://127.0.0.1:\(server.port)/in")
        try await expectSoon("the webhook is inactive") {
            try await fixture.status(of: webhook)
                == .inactive(reason: "Verification failed due to \(reason)")
        }
        try await fixture.send("one", in: try await fixture.conversation())
        await fixture.close()
        let received = heads.withLock { $0 }
        #expect(received.count == 1)
        let head = try #require(received.first)
        #expect(head.contains(/^GET \/in\?verification_challenge=[A-Za-z0-9_-]{43} HTTP/))
        #expect(head.lowercased().contains("user-agent: layer-webhooks/"))
        #expect(try await fixture.deliveries(of: webhook).isEmpty)
    }

    @Test func `is not sent if the verification times out (webhooks 2)`() async throws {
        var settings = WebhookFixture.quick
        settings.verifiesWithin = 300
        let fixture = try await WebhookFixture(settings)
        let server = try ScriptedServer { connection in
            _ = connection.readHead()
            // Until the client closes the connection.
            _ = connection.read(1)
        }
        let webhook = try await fixture.register("http://127.0.0.1:\(server.port)/in")
        try await expectSoon("the webhook is inactive") {
            try await fixture.status(of: webhook)
                == .inactive(reason: "Verification failed due to a timeout")
        }
        try await expectSoon("the deactivation is reported") {
            fixture.deactivated == ["Verification failed due to a timeout"]
        }
        #expect(
            try await fixture.changes(of: webhook)
                == [.inactive(reason: "Verification failed due to a timeout")])
        await fixture.close()
        #expect(fixture.reported == [])
    }

    @Test func `is deleted with its webhook, or after the retention`() async throws {
        let fixture = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let conversation = try await fixture.conversation()
        let (kept, deleted) = try await (
            fixture.activate(receiver.url), fixture.activate(receiver.url)
        )
        for number in 0..<5 { try await fixture.send("\(number)", in: conversation) }
        try await fixture.expect(5, .delivered, of: kept)
        try await fixture.expect(5, .delivered, of: deleted)
        await fixture.close()
        try await fixture.store.deleteWebhook(deleted.id, in: fixture.application)
        await #expect(throws: Rejection.notFound(.webhook)) {
            _ = try await fixture.deliveries(of: deleted)
        }
        try await fixture.store.trimDeliveries(before: Timestamp(milliseconds: 0))
        #expect(try await fixture.deliveries(of: kept).count == 5)
        try await fixture.store.trimDeliveries(before: Timestamp(milliseconds: .max))
        #expect(try await fixture.deliveries(of: kept).isEmpty)
    }
}

private final class EmptyService: HTTP.Service {
    func answer(to request: Request) -> Answer { Answer("none", Response(.ok, "text/plain", [])) }
    func refusal(_ refusal: Refusal) -> Response { Response(refusal.status, "text/plain", []) }
}
