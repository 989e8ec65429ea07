internal import HTTP
internal import HTTPClient
internal import Messaging
internal import MessagingStore

/// Sends one request to a webhook and says what came of it.
///
/// Whatever the receiver does costs a few milliseconds of processor and 64 KiB: redirects are an answer like
/// any other, of a body that much is read, and time is bounded.
struct WebhookSender: Sendable {
    let client: HTTPClient
    let settings: DeliverySettings
    private let environment: StoreEnvironment

    /// - Throws: `unavailable` where libcurl is not there.
    init(
        _ settings: DeliverySettings, _ environment: StoreEnvironment
    ) throws(HTTPClientError) {
        var transport = HTTPClientSettings()
        transport.authorities = settings.authorities
        transport.admits = { [targets = settings.targets] peer in targets.admits(peer) }
        // Each webhook has its own bound: two at one server must not wait for each other.
        transport.connectionsPerHost = 0
        client = try HTTPClient(transport)
        self.settings = settings
        self.environment = environment
    }

    func now() -> Timestamp { environment.now() }

    /// Sends a delivery.
    ///
    /// - Returns: `nil` when it was given up on this side, which tells nothing of the receiver.
    func send(_ delivery: DueDelivery, to receiver: Receiver) async -> DeliveryOutcome? {
        let webhook = receiver.webhook
        let moment = now()
        let former = receiver.former.flatMap { $0.until > moment ? $0.text : nil }
        var request = ClientRequest(
            .post, webhook.target,
            fields: LayerFields.of(
                delivery.type, delivery.event, delivery.body, to: webhook,
                in: receiver.application)
                + StandardFields.of(
                    delivery.event, delivery.body, at: moment,
                    secrets: [webhook.secret] + [former].compactMap(\.self))
                + TraceFields.of(delivery.trace, step: environment.randomBytes(8)),
            body: .octets(delivery.body))
        request.connectsWithin = .milliseconds(settings.connectsWithin)
        request.answersWithin = .milliseconds(settings.answersWithin)
        request.endsWithin = .milliseconds(settings.connectsWithin + settings.answersWithin)
        do throws(HTTPClientError) {
            let stream = try await client.open(request)
            let status = stream.status
            // A small rest is read, so that the connection can be used again; a large one closes it.
            await drop(stream)
            return outcome(of: status, delivery)
        } catch {
            guard error.kind != .cancelled else { return nil }
            return failure(.init(status: nil, failure: error.kind.words), delivery)
        }
    }

    private func outcome(of status: Int, _ delivery: DueDelivery) -> DeliveryOutcome {
        switch status {
        case 200...299: .taken(status: Int64(status))
        case 410: .gone
        default:
            failure(
                .init(status: Int64(status), failure: StatusText.of(status)), delivery)
        }
    }

    private func failure(
        _ answer: WebhookDelivery.Answer, _ delivery: DueDelivery
    ) -> DeliveryOutcome {
        .failed(
            answer,
            again: settings.schedule.next(
                after: delivery.attempts + 1, asked: delivery.askedAt, now: now(),
                chance: chance()))
    }

    /// From 0 to 1.
    private func chance() -> Double {
        Double(environment.randomBytes(2).reduce(0) { bits, byte in bits << 8 | Int(byte) })
            / 65_535
    }

    private func drop(_ stream: ClientStream) async {
        var octets = 0
        // What is wrong with the rest changes nothing of the status.
        while octets <= DeliverySettings.answerLimit,
            let piece = try? await stream.next()
        {
            octets += piece.count
        }
    }
}

extension HTTPClientError.Kind {
    /// What a person reads of a failure; nothing of where we looked.
    var words: String {
        switch self {
        case .timedOut: "a timeout"
        case .insecure: "a TLS error"
        case .refusedAddress: "an address that may not be called"
        case .unresolved: "an unknown host"
        case .tooLarge: "an answer that is too large"
        case .unavailable, .invalidRequest, .unreachable, .broken, .unreadableBody, .cancelled:
            "a connection error"
        }
    }
}
