public import HTTP
public import Messaging

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
