/// The numbers of a WebSocket; the defaults are those of the specification.
public struct WebSocketSettings: Sendable {
    /// The largest message in bytes, decoded where it came compressed (H138, H150).
    public var maximumMessage = 1 << 20
    /// The largest frame in bytes (H138).
    public var maximumFrame = 1 << 20
    /// The most fragments of one message (H135).
    public var maximumFragments = 1024
    /// What may wait for a slow client beyond the connection's own buffer, in bytes (H144).
    public var maximumQueueBytes = 1 << 20
    /// What may wait for a slow client, in messages (H144).
    public var maximumQueueMessages = 1000
    /// What a client too slow for its queue is told: 1008, or 1013 where it may come again (H144).
    public var slowConsumerCode = CloseCode.policyViolation
    /// How often the server asks whether the client lives, in milliseconds (H143).
    public var pingInterval: Int64 = 30_000
    /// How long a client may send no frame at all, in milliseconds (H143).
    public var idleTimeout: Int64 = 75_000
    /// How long a client may take to answer a close frame, in milliseconds (H141).
    public var closeTimeout: Int64 = 5_000
    /// Over how many milliseconds the sockets of a stopping server say goodbye (H147).
    public var drainSpread: Int64 = 5_000
    /// How many messages a client may send each second, control frames included (H145).
    public var messagesPerSecond: Int64 = 50
    /// How many it may send at once after a rest (H145).
    public var burst: Int64 = 200
    /// For how many seconds in a row a client that sends too much is merely slowed down (H145).
    public var maximumThrottledSeconds = 10
    /// Whether only text may come (H149).
    public var isTextOnly = false
    /// The origins whose pages may open a socket, as browsers write them; `*` for all (H129).
    ///
    /// A client that sends no origin is no browser, and is not asked.
    public var origins: [String] = []
    /// The subprotocols spoken here, the preferred one first (H130).
    public var subprotocols: [String] = []
    /// Whether a client that offers none of them is refused (H130).
    public var requiresSubprotocol = false
    /// How messages are compressed; `nil` for not at all (H120, H150).
    public var compression: WebSocketCompression?

    /// The defaults.
    public init() {}

    func frameLimits(inflates: Bool) -> FrameLimits {
        var limits = FrameLimits()
        limits.message = maximumMessage
        limits.frame = maximumFrame
        limits.fragments = maximumFragments
        limits.isTextOnly = isTextOnly
        limits.inflates = inflates
        return limits
    }
}

/// How messages are compressed where a client offers it (RFC 7692, H150).
///
/// Every message is compressed by itself, in both directions: a context kept between messages would
/// cost a quarter of a megabyte for each socket, and lets a secret leak into the size of another
/// message. A message that mixes a secret with text of somebody else is still not to be compressed
/// (H115): this is for routes without such messages.
public struct WebSocketCompression: Sendable {
    /// The largest window of the compressor, 9…15 bits; a client may ask for less.
    public var windowBits: Int
    /// Messages of fewer bytes go out as they are.
    public var minimum: Int

    /// Makes a policy; `windowBits` outside 9…15 is taken to the nearer end.
    public init(windowBits: Int = 15, minimum: Int = 1024) {
        self.windowBits = min(max(windowBits, 9), 15)
        self.minimum = minimum
    }
}

/// Why a WebSocket ended (RFC 6455 §7.4).
public struct CloseCode: Hashable, Sendable {
    /// The code as it stands on the wire.
    public let number: UInt16

    /// Takes a code; which ones may stand on the wire says ``isSendable``.
    public init(_ number: UInt16) { self.number = number }

    /// The purpose is fulfilled.
    public static let normal = CloseCode(1000)
    /// An end point goes away: the server stops (H147), or nothing came for too long (H143).
    public static let goingAway = CloseCode(1001)
    /// The framing broke a rule.
    public static let protocolError = CloseCode(1002)
    /// A kind of data this end point does not take (H149).
    public static let unsupportedData = CloseCode(1003)
    /// The peer's close frame carried no code; never on the wire.
    public static let noStatusReceived = CloseCode(1005)
    /// The connection ended without a close frame; never on the wire.
    public static let abnormal = CloseCode(1006)
    /// Data that is not what its kind promises: text that is not UTF-8 (H137).
    public static let invalidData = CloseCode(1007)
    /// A policy was broken: too many messages (H145), or too slow a reader (H144).
    public static let policyViolation = CloseCode(1008)
    /// A message or a frame over the limit (H138).
    public static let tooBig = CloseCode(1009)
    /// The server failed.
    public static let internalError = CloseCode(1011)
    /// The server is too busy; come again (H144).
    public static let tryAgainLater = CloseCode(1013)
    /// The session behind the socket has expired or was revoked (H146).
    public static let sessionExpired = CloseCode(4001)

    /// Whether a close frame may carry it (H140).
    public var isSendable: Bool {
        switch number {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
