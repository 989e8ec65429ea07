internal import Bytes
public import HTTP
internal import HTTPClient
public import Messaging
internal import MessagingStore

/// Limits and targets of webhook requests (X6, webhooks §3.3).
public struct WebhookSettings: Sendable {
    /// Which addresses and schemes targets may have.
    public var targets = OutboundRule()
    /// A PEM file with CA certificates for targets; `nil` for the system's.
    public var authorities: String?
    /// When a failed delivery is retried.
    public var schedule = RetrySchedule.default
    /// Milliseconds to connect to a target, TLS included.
    public var connectTimeout: Int64 = 5000
    /// Milliseconds from the sent request to the response.
    public var responseTimeout: Int64 = 1000
    /// Milliseconds for a whole verification.
    public var verifiesWithin: Int64 = 10_000
    /// Concurrent deliveries of one webhook, each of another conversation.
    public var concurrency = 16
    /// Percentage of dead deliveries above which a webhook is deactivated.
    public var deadShare = 50
    /// Milliseconds that a finished delivery is kept; 0 for ever.
    public var retention: Int64 = 7 * 86_400_000

    /// Bytes of a response body that are read so that the connection can be reused.
    static let answerLimit = 64 << 10

    /// The default settings.
    public init() {}
}

/// Sends one request to a webhook target and classifies the result.
///
/// Whatever the target does costs a few milliseconds of processor time and 64 KiB: redirects are
/// not followed, at most that much of a body is read, and time is bounded.
struct WebhookSender: Sendable {
    private let client: HTTPClient
    let settings: WebhookSettings
    private let environment: StoreEnvironment

    /// - Throws: `unavailable` if libcurl is missing.
    init(
        _ settings: WebhookSettings, _ environment: StoreEnvironment
    ) throws(HTTPClientError) {
        var transport = HTTPClientSettings()
        transport.caBundle = settings.authorities
        transport.allowsAddress = { [targets = settings.targets] peer in targets.admits(peer) }
        // The supervisor bounds each webhook: two webhooks at one host must not wait for each
        // other.
        transport.connectionsPerHost = 0
        client = try HTTPClient(transport)
        self.settings = settings
        self.environment = environment
    }

    func now() -> Timestamp { environment.now() }

    /// Sends a delivery.
    ///
    /// - Returns: The outcome, and what was sent and received; `nil` when this side cancelled it, which says nothing
    ///   about the target.
    func send(
        _ delivery: DueDelivery, to receiver: WebhookTarget
    ) async -> (outcome: DeliveryOutcome, attempt: SentAttempt)? {
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
        let start = ContinuousClock.now
        var response: [UInt8] = []
        let outcome: DeliveryOutcome
        do throws(HTTPClientError) {
            let stream = try await client.open(request)
            let status = stream.status
            // A short body is read so that the connection can be reused; a longer one closes it.
            response = await readStart(stream)
            outcome = self.outcome(of: status, delivery)
        } catch {
            guard error.kind != .cancelled else { return nil }
            outcome = failure(.init(status: nil, failure: error.kind.words), delivery)
        }
        let attempt = WebhookDelivery.Attempt(
            at: moment, duration: (ContinuousClock.now - start).wholeMilliseconds,
            answer: outcome.answer, response: response)
        return (outcome, SentAttempt(attempt, headers: request.fields))
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
                after: delivery.attempts + 1, requested: delivery.askedAt, now: now(),
                chance: chance()))
    }

    /// A random number from 0 to 1.
    private func chance() -> Double {
        Double(environment.randomBytes(2).reduce(0) { bits, byte in bits << 8 | Int(byte) })
            / 65_535
    }

    /// Reads a body up to the limit, and returns its first bytes.
    private func readStart(_ stream: ClientResponseStream) async -> [UInt8] {
        var bytes = 0
        var start: [UInt8] = []
        // A broken body does not change the status.
        while bytes <= WebhookSettings.answerLimit,
            let piece = try? await stream.next()
        {
            bytes += piece.count
            start += piece.prefix(WebhookDelivery.Attempt.responseLimit - start.count)
        }
        return start
    }
}

extension DeliveryOutcome {
    /// What the attempt shows.
    fileprivate var answer: WebhookDelivery.Answer {
        switch self {
        case .taken(let status): .init(status: status, failure: nil)
        case .failed(let answer, _): answer
        case .gone: .init(status: 410, failure: StatusText.of(410))
        }
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

extension HTTPClientError.Kind {
    /// A short description for people, without the address that was contacted.
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
    /// Verifies a target, which must return a challenge (webhooks §2).
    ///
    /// - Parameter challenge: Letters, digits, `-` and `_`, which the answer must repeat.
    /// - Returns: Success or the reason for `status_reason`; `nil` when this side cancelled the
    ///   request.
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

/// The result of verifying a target.
enum WebhookVerification: Equatable {
    case passed
    /// With the text for `status_reason`.
    case refused(String)

    static func failed(because words: String) -> WebhookVerification {
        .refused("Verification failed due to \(words)")
    }
}

/// The status with its standard reason phrase, as in `status_reason`: `404 Not Found` (webhooks
/// §2).
///
/// The phrase comes from RFC 9110 §15, never from the target, because it is shown to others.
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
