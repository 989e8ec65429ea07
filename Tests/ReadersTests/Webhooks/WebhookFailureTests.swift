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
                "HTTP/1.1 500 Whatever\r\nContent-Length: 0\r\n\r\n", 500,
                "500 Internal Server Error"
            ),
            (
                "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
                301,
                "301 Moved Permanently"
            ),
            ("HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n", 599, "599"),
            ("", nil, "a connection error"), ("HTTP/1.1 20", nil, "a connection error"),
            ("HTTP/1.1 200 OK\r\nX: y\r\n", nil, "a connection error"),
            ("nonsense\r\n\r\n", nil, "a connection error"),
        ] as [(String, Int64?, String)])
    func `that fails is retried by the schedule and then becomes a dead letter (X6)`(
        words: String, status: Int64?, failure: String
    ) async throws {
        let office = try await WebhookFixture()
        let receiver = try TestWebhookTarget(hangingUpBehind: words)
        let webhook = try await office.activate(receiver.url)
        try await office.say("one", in: try await office.conversation())
        try await office.expect(1, .dead, of: webhook)
        let delivery = try #require(try await office.deliveries(of: webhook).first)
        #expect(delivery.attempts == 3 && receiver.hits.count == 3)
        #expect(delivery.answer == .init(status: status, failure: failure))
        #expect(delivery.nextAt == nil && delivery.finishedAt != nil)
        // It is not lost: a replay sends it again, from the start of the schedule.
        let again = try await office.store.retryDelivery(
            delivery.id, of: webhook.id, in: office.application)
        #expect(again.state == .pending && again.attempts == 0)
        try await office.expect(1, .dead, of: webhook)
        #expect(receiver.hits.count == 6)
        if case .active = try await office.status(of: webhook) {} else { Issue.record("inactive") }
        await office.close()
        #expect(office.reported == [])
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "HTTP/1.1 299 Odd\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
    ]) func `is accepted with a 2xx status, whatever follows it (webhooks 3_3)`(words: String)
        async throws
    {
        let office = try await WebhookFixture()
        let receiver = try TestWebhookTarget(hangingUpBehind: words)
        let webhook = try await office.activate(receiver.url)
        try await office.say("one", in: try await office.conversation())
        try await office.expect(1, .delivered, of: webhook)
        #expect(receiver.hits.count == 1)
        await office.close()
    }

    @Test func `with a response of 100 MB reads only its start`() async throws {
        let office = try await WebhookFixture()
        let sent = Locked(0)
        let receiver = try TestWebhookTarget { connection, _, _ in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(100 << 20)\r\n\r\n")
            let piece = [UInt8](repeating: 1, count: 64 << 10)
            while connection.write(piece) { sent.withLock { $0 += piece.count } }
            return false
        }
        let webhook = try await office.activate(receiver.url)
        try await office.say("one", in: try await office.conversation())
        try await office.expect(1, .delivered, of: webhook)
        await office.close()
        // The size of both socket buffers.
        #expect(sent.withLock { $0 } < 32 << 20)
    }

    @Test(arguments: [false, true])
    func `that is not answered in time fails after exactly that time`(drips: Bool)
        async throws
    {
        let office = try await WebhookFixture.waiting(500)
        let receiver = try TestWebhookTarget { connection, _, _ in
            // Single bytes keep the connection busy but are no response.
            if drips { connection.write("HTTP/1.1 200 OK\r\nX: ") }
            while drips, connection.write("x") { usleep(50_000) }
            return connection.read(1) != nil
        }
        let webhook = try await office.activate(receiver.url)
        try await office.say("one", in: try await office.conversation())
        try await office.expect(1, .dead, of: webhook)
        let delivery = try #require(try await office.deliveries(of: webhook).first)
        #expect(delivery.answer == .init(status: nil, failure: "a timeout"))
        await office.close()
    }

    /// The delivery to a target that was marked as verified although it cannot be reached.
    private func refused(by office: WebhookFixture, to webhook: Webhook) async throws
        -> WebhookDelivery
    {
        try await expectSoon("it is inactive") {
            try await office.status(of: webhook)
                == .inactive(reason: "WebhookVerification failed due to a connection error")
        }
        await office.close()
        let again = try await office.store.activateWebhook(webhook.id, in: office.application)
        try await office.store.finishVerification(of: again, failure: nil, in: office.application)
        try await office.say("one", in: try await office.conversation())
        office.open()
        try await office.expect(1, .dead, of: webhook)
        return try #require(try await office.deliveries(of: webhook).first)
    }

    @Test func `to a forbidden address is not connected, whatever its host name (X6)`()
        async throws
    {
        var settings = WebhookFixture.quick
        settings.targets.allowedNetworks = []
        let office = try await WebhookFixture(settings)
        let receiver = try TestWebhookTarget()
        // Registered when its name resolved to another address.
        let webhook = try await office.register("http://localhost:\(receiver.port)/")
        let delivery = try await refused(by: office, to: webhook)
        #expect(delivery.answer?.failure == "an address that may not be called")
        await office.close()
        #expect(receiver.hits.isEmpty)
    }

    @Test func `to an untrusted certificate is not sent`() async throws {
        let folder = TemporaryFolder()
        let pair = try DevelopmentCertificate.write(to: folder.path, hosts: [])
        var configuration = ServerConfiguration()
        configuration.addresses = []
        var tls = TLSConfiguration()
        tls.addresses = [.ipv4(0x7F00_0001, port: 0)]
        tls.certificates = [pair]
        configuration.tls = tls
        let server = try Server(configuration, service: Nothing())
        let office = try await WebhookFixture()
        let webhook = try await office.register("https://\(try server.start()[0])/in")
        // The same if its certificate was valid at first.
        let delivery = try await refused(by: office, to: webhook)
        #expect(delivery.answer == .init(status: nil, failure: "a TLS error"))
        await office.close()
        _ = await server.drain(deadline: 0)
    }

    @Test func `that is answered with 410 deactivates its webhook (X6)`() async throws {
        let office = try await WebhookFixture()
        let receiver = try TestWebhookTarget(
            answering: "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")
        let webhook = try await office.activate(receiver.url)
        let talk = try await office.conversation()
        for number in 0..<3 { try await office.say("\(number)", in: talk) }
        try await expectSoon("it is inactive") {
            try await office.status(of: webhook)
                == .inactive(reason: "Delivery failed: 410 Gone")
        }
        await office.close()
        #expect(receiver.hits.count == 1)
        #expect(office.deactivated == ["Delivery failed: 410 Gone"])
        #expect(
            try await office.changes(of: webhook)
                == [webhook.status, .inactive(reason: "Delivery failed: 410 Gone")])
        #expect(try await office.deliveries(of: webhook, .dead).count == 1)
        // The next supervisor sends everything, also deliveries created after the response.
        office.open()
        try await office.expect(2, .pending, of: webhook)
        await office.close()
        office.open()
        try await expectSoon("it is counted") {
            office.statistics.backlog.dead == 1 && office.statistics.backlog.pending == 2
        }
        await office.close()
    }

    @Test func `counts towards the share that deactivates a webhook (X6)`() async throws {
        var settings = WebhookFixture.quick
        settings.deadShare = 50
        settings.schedule = RetrySchedule(waits: [])
        let office = try await WebhookFixture(settings)
        let receiver = try TestWebhookTarget { connection, hit, _ in
            connection.write(
                hit.words.hasPrefix("bad")
                    ? "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n" : TestWebhookTarget.taken)
        }
        let webhook = try await office.activate(receiver.url)
        let talk = try await office.conversation()
        // Ten of twenty is exactly half.
        for number in 0..<20 {
            try await office.say(number.isMultiple(of: 2) ? "good" : "bad", in: talk)
        }
        try await office.expect(10, .dead, of: webhook)
        if case .active = try await office.status(of: webhook) {} else { Issue.record("inactive") }
        try await office.say("bad", in: talk)
        try await expectSoon("it is inactive") {
            try await office.status(of: webhook)
                == .inactive(reason: "Delivery failed: 503 Service Unavailable")
        }
        await office.close()
        #expect(
            try await office.changes(of: webhook)
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
        words: String, reason: String
    ) async throws {
        let office = try await WebhookFixture()
        let asked = Locked<[String]>([])
        let server = try ScriptedServer { connection in
            guard let head = connection.readHead() else { return }
            asked.withLock { $0.append(head) }
            connection.write(words)
        }
        let webhook = try await office.register("http://127.0.0.1:\(server.port)/in")
        try await expectSoon("it is inactive") {
            try await office.status(of: webhook)
                == .inactive(reason: "WebhookVerification failed due to \(reason)")
        }
        try await office.say("one", in: try await office.conversation())
        await office.close()
        let heads = asked.withLock { $0 }
        #expect(heads.count == 1)
        let head = try #require(heads.first)
        #expect(head.contains(/^GET \/in\?verification_challenge=[A-Za-z0-9_-]{43} HTTP/))
        #expect(head.lowercased().contains("user-agent: layer-webhooks/"))
        #expect(try await office.deliveries(of: webhook).isEmpty)
    }

    @Test func `is not sent if the verification times out (webhooks 2)`() async throws {
        var settings = WebhookFixture.quick
        settings.verifiesWithin = 300
        let office = try await WebhookFixture(settings)
        let server = try ScriptedServer { connection in
            _ = connection.readHead()
            // Until the client closes the connection.
            _ = connection.read(1)
        }
        let webhook = try await office.register("http://127.0.0.1:\(server.port)/in")
        try await expectSoon("it is inactive") {
            try await office.status(of: webhook)
                == .inactive(reason: "WebhookVerification failed due to a timeout")
        }
        #expect(office.deactivated == ["WebhookVerification failed due to a timeout"])
        #expect(
            try await office.changes(of: webhook)
                == [.inactive(reason: "WebhookVerification failed due to a timeout")])
        await office.close()
        #expect(office.reported == [])
    }

    @Test func `is deleted with its webhook, or after the retention`() async throws {
        let office = try await WebhookFixture()
        let receiver = try TestWebhookTarget()
        let talk = try await office.conversation()
        let (kept, deleted) = try await (
            office.activate(receiver.url), office.activate(receiver.url)
        )
        for number in 0..<5 { try await office.say("\(number)", in: talk) }
        try await office.expect(5, .delivered, of: kept)
        try await office.expect(5, .delivered, of: deleted)
        await office.close()
        try await office.store.deleteWebhook(deleted.id, in: office.application)
        await #expect(throws: Rejection.notFound(.webhook)) {
            _ = try await office.deliveries(of: deleted)
        }
        try await office.store.trimDeliveries(before: Timestamp(milliseconds: 0))
        #expect(try await office.deliveries(of: kept).count == 5)
        try await office.store.trimDeliveries(before: Timestamp(milliseconds: .max))
        #expect(try await office.deliveries(of: kept).isEmpty)
    }
}

private final class Nothing: HTTP.Service {
    func answer(to request: Request) -> Answer { Answer("none", Response(.ok, "text/plain", [])) }
    func refusal(_ refusal: Refusal) -> Response { Response(refusal.status, "text/plain", []) }
}
