public import HTTP

/// Numbers and lists of the interface, with the defaults of the HTTP rules (http §25).
public struct PlatformSettings: Sendable {
    /// Bytes from which on an answer is compressed (H114).
    public var compressMinimum = 1024
    /// Decoded bytes for each coded one of a request, after the first 64 KiB (H118).
    public var maxInflateRatio: Int64 = 100
    /// Origins whose pages may use the interface; `*` is every one, none turns it off (H122).
    public var crossOrigins: [String] = []
    /// How long a browser may remember what it may do, in milliseconds (H123).
    public var crossOriginMaxAge: Int64 = 600_000
    /// Bytes of memory for messages as they were answered lately; 0 for none.
    public var memory = 32 << 20
    /// Requests of one token (platform-api §1.11).
    public var rateLimit = RateLimit()

    /// Whether `Accept` must name a media type of the API with a version (ruling 31).
    public var strictAccept = false

    /// Most streams of events, and requests that wait for one, of all tokens (H157).
    public var maximumStreams = 10_000
    /// Most of one token, behind which there is a whole application and not one user.
    public var maximumStreamsPerToken = 1000

    /// Applications that are exported at a time, and as many that are imported (X10).
    public var maximumTransfers = 2

    /// Which targets webhooks may have (webhooks §1.2, X6).
    public var outbound = OutboundRule()

    /// All defaults.
    public init() {}
}

/// How many requests one token may make.
public struct RateLimit: Equatable, Sendable {
    /// In each second, over time; 0 for as many as it likes.
    public var perSecond: Int64
    /// At once, after a rest.
    public var burst: Int64

    /// A limit; that of platform-api §1.11 unless said otherwise.
    public init(perSecond: Int64 = 100, burst: Int64 = 200) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// None at all.
    public static let none = RateLimit(perSecond: 0)
}

extension CORSPolicy {
    /// Who may use the interface from a browser, and what pages send and read (H122–H124).
    init(_ settings: PlatformSettings) {
        self.init(
            origins: settings.crossOrigins,
            requestHeaders: [
                "Accept", "Authorization", "Content-Disposition", "Content-Encoding",
                "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Prefer",
                "Upload-Content-Length", "Upload-Content-Type", "Upload-Origin",
                "X-HTTP-Method-Override",
            ],
            exposedHeaders: [
                "Accept-Encoding", "Accept-Patch", "Allow", "Content-Location", "ETag",
                "Idempotent-Replayed", "Layer-Count", "Link", "Location",
                "Parley-Ignored-Parameters", "Parley-Version", "Preference-Applied", "RateLimit",
                "RateLimit-Policy", "Retry-After",
                "WWW-Authenticate", "X-Request-Id",
            ],
            maxAge: settings.crossOriginMaxAge / 1000)
    }
}
