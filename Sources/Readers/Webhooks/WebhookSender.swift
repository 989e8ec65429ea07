internal import Bytes
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
    let settings: WebhookSettings
    private let environment: StoreEnvironment

    /// - Throws: `unavailable` where libcurl is not there.
    init(
        _ settings: WebhookSettings, _ environment: StoreEnvironment
    ) throws(HTTPClientError) {
        var transport = HTTPClientSettings()
        transport.caBundle = settings.authorities
        transport.allowsAddress = { [targets = settings.targets] peer in targets.admits(peer) }
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
    func send(_ delivery: DueDelivery, to receiver: WebhookTarget) async -> DeliveryOutcome? {
        let webhook = receiver.webhook
        let moment = now()
        let former = receiver.former.flatMap { $0.until > moment ? $0.text : nil }
        var request = ClientRequest(
            .post, webhook.target,
            fields: LayerWebhookHeaders.of(
                delivery.type, delivery.event, delivery.body, to: webhook,
                in: receiver.application)
                + StandardWebhookHeaders.of(
                    delivery.event, delivery.body, at: moment,
                    secrets: [webhook.secret] + [former].compactMap(\.self))
                + TraceContextHeaders.of(delivery.trace, step: environment.randomBytes(8)),
            body: .bytes(delivery.body))
        request.connectTimeout = .milliseconds(settings.connectTimeout)
        request.responseTimeout = .milliseconds(settings.responseTimeout)
        request.totalTimeout = .milliseconds(settings.connectTimeout + settings.responseTimeout)
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

    private func drop(_ stream: ClientResponseStream) async {
        var bytes = 0
        // What is wrong with the rest changes nothing of the status.
        while bytes <= WebhookSettings.answerLimit,
            let piece = try? await stream.next()
        {
            bytes += piece.count
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

extension WebhookSender {
    /// Asks a target whether it wants what it would be sent (webhooks §2).
    ///
    /// - Parameter challenge: Letters, digits, `-` and `_`, which it has to answer with.
    /// - Returns: Why it does not, for `status_reason`, or that it does; `nil` when the question was given up
    ///   on this side.
    func verify(_ target: String, challenge: String) async -> WebhookVerification? {
        let joint = target.contains("?") ? "&" : "?"
        var request = ClientRequest(
            .get, "\(target)\(joint)verification_challenge=\(challenge)",
            fields: [("user-agent", LayerWebhookHeaders.userAgent)])
        request.connectTimeout = .milliseconds(settings.verifiesWithin)
        request.totalTimeout = .milliseconds(settings.verifiesWithin)
        do throws(HTTPClientError) {
            let answer = try await client.send(request, bodyLimit: WebhookSettings.answerLimit)
            guard answer.status == 200 else {
                return .failed(
                    because: "unexpected response status: \(StatusText.of(answer.status))")
            }
            let isOurs = Self.trimmed(answer.body).elementsEqual(challenge.utf8)
            return isOurs ? .passed : .failed(because: "unexpected response body")
        } catch {
            switch error.kind {
            case .cancelled: return nil
            case .timedOut: return .failed(because: "a timeout")
            case .tooLarge: return .failed(because: "unexpected response body")
            default: return .failed(because: "a connection error")
            }
        }
    }

    private static func trimmed(_ body: [UInt8]) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
        let tail = body.drop(while: isSpace)
        guard let last = tail.lastIndex(where: { byte in !isSpace(byte) }) else { return [] }
        return tail[...last]
    }
}

/// What came of asking a target.
enum WebhookVerification: Equatable {
    case passed
    /// With what stands in `status_reason`.
    case refused(String)

    static func failed(because words: String) -> WebhookVerification {
        .refused("WebhookVerification failed due to \(words)")
    }
}

/// A status in words, as `status_reason` has it: `404 Not Found` (webhooks §2).
///
/// The phrase is that of the standard (RFC 9110 §15), whatever the receiver says: it is told to others.
enum StatusText {
    static func of(_ status: Int) -> String {
        phrases[status].map { phrase in "\(status) \(phrase)" } ?? "\(status)"
    }

    private static let phrases = [
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information",
        204: "No Content", 205: "Reset Content", 206: "Partial Content", 300: "Multiple Choices",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required",
        412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        421: "Misdirected Request", 422: "Unprocessable Content", 426: "Upgrade Required",
        429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented",
        502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported",
    ]
}
