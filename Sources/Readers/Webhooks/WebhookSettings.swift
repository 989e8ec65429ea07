public import HTTP
public import Messaging

/// How webhooks are sent what they are sent (X6, webhooks §3.3).
public struct WebhookSettings: Sendable {
    /// Where they may be.
    public var targets = OutboundRule()
    /// A PEM file with the authorities that may vouch for them; `nil`: the system's.
    public var authorities: String?
    /// When a delivery is tried again.
    public var schedule = RetrySchedule.default
    /// Milliseconds to reach a receiver, TLS included.
    public var connectTimeout: Int64 = 5000
    /// Milliseconds for its answer once it has the request.
    public var responseTimeout: Int64 = 1000
    /// Milliseconds for all of a verification.
    public var verifiesWithin: Int64 = 10_000
    /// Deliveries of one webhook on their way at a time, each of another conversation.
    public var concurrency = 16
    /// How many of a hundred deliveries may be given up before their webhook is deactivated.
    public var deadShare = 50
    /// Milliseconds that a delivery is kept when it is over; 0 for ever.
    public var retention: Int64 = 7 * 86_400_000

    /// How many bytes of an answer's body are read so that its connection can be used again.
    static let answerLimit = 64 << 10

    /// The defaults.
    public init() {}
}
