public import HTTP
public import WebSockets

/// Settings of the Platform API and the Client API, with the defaults of the HTTP rules (http §25).
public struct PlatformSettings: Sendable {
    /// The smallest answer, in bytes, that is compressed (H114).
    public var compressMinimum = 1024
    /// The most decoded bytes for each encoded byte of a request body, after the first 64 KiB (H118).
    public var maxInflateRatio: Int64 = 100
    /// Origins whose pages may use the API; `*` allows all, an empty list none (H122).
    public var crossOrigins: [String] = []
    /// How long a browser may cache the answer to a preflight request, in milliseconds (H123).
    public var crossOriginMaxAge: Int64 = 600_000
    /// The size of the cache of message answers in bytes; 0 turns it off.
    public var memory = 32 << 20
    /// The rate limit of each token (platform-api §1.11).
    public var rateLimit = RateLimit()

    /// Whether `POST /dev/login` returns session tokens without identity tokens (X14).
    public var allowsDevelopmentLogin = false
    /// The rate limit of each address that logs in with `POST /dev/login` (X14).
    public var developmentLoginLimit = RateLimit(perSecond: 10, burst: 10)

    /// Whether `Accept` must name a media type of the API with a version (ruling 31).
    public var strictAccept = false

    /// The most event streams, waiting requests and WebSockets of all tokens and users together (H157).
    public var maximumStreams = 10_000
    /// The most of them of one token.
    public var maximumStreamsPerToken = 1000
    /// The most of them of one user, in all sessions of the user together.
    public var maximumStreamsPerUser = 16

    /// Time limits of WebSockets. Limits of the protocol and of what a client may send and leave unread are those of client-api
    /// §5.
    public var webSockets = WebSocketSettings()
    /// How long a state of typing lasts without repetition, in milliseconds (client-api §5.7).
    public var typingStep: Int64 = 6000

    /// How long a user without a connection stays present, in milliseconds (client-api §5.8).
    public var presenceGrace: Int64 = 60_000

    /// How often a live feed tells of the receipts of others in wide conversations, in milliseconds (ruling 38).
    public var wideReceiptInterval: Int64 = 1000

    /// The most exports at a time, and the most imports at a time (X10).
    public var maximumTransfers = 2

    /// Which targets webhooks may have (webhooks §1.2, X6).
    public var outbound = OutboundRule()

    /// The defaults.
    public init() {}
}

/// A limit for the requests of one token: a token bucket.
public struct RateLimit: Equatable, Sendable {
    /// Requests per second, on average; 0 for no limit.
    public var perSecond: Int64
    /// The most requests at once after a pause: the size of the bucket.
    public var burst: Int64

    /// The default is that of platform-api §1.11.
    public init(perSecond: Int64 = 100, burst: Int64 = 200) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// No limit.
    public static let none = RateLimit(perSecond: 0)
}

extension CORSPolicy {
    /// Which origins may use the APIs from a browser, and which headers they may send and read (H122–H124).
    ///
    /// - Parameter allowsCredentials: Whether it is the policy of the Client API, whose web SDK sends each request in the
    ///   credentials mode `include` (client-api §1.1).
    init(_ settings: PlatformSettings, allowsCredentials: Bool) {
        self.init(
            origins: settings.crossOrigins,
            requestHeaders: [
                "Accept", "Authorization", "Content-Disposition", "Content-Encoding",
                "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID",
                "Prefer", "Upload-Content-Length", "Upload-Content-Type", "Upload-Origin",
                "X-HTTP-Method-Override",
            ],
            exposedHeaders: [
                "Accept-Encoding", "Accept-Patch", "Allow", "Content-Location", "ETag",
                "Idempotent-Replayed", "Layer-Conversation-Is-Syncing", "Layer-Count", "Link",
                "Location", "Parley-Cursor",
                "Parley-Ignored-Parameters", "Parley-Scan", "Parley-Version", "Preference-Applied",
                "RateLimit",
                "RateLimit-Policy", "Retry-After",
                "WWW-Authenticate", "X-Request-Id",
            ],
            maxAge: settings.crossOriginMaxAge / 1000, allowsCredentials: allowsCredentials)
    }
}
