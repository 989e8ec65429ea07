/// The numbers of a WebSocket; the defaults are those of the specification.
public struct WebSocketSettings: Sendable {
    /// The largest message in octets, decoded where it came compressed (H138, H150).
    public var maximumMessage = 1 << 20
    /// The largest frame in octets (H138).
    public var maximumFrame = 1 << 20
    /// The most fragments of one message (H135).
    public var maximumFragments = 1024
    /// What may wait for a slow client beyond the connection's own buffer, in octets (H144).
    public var maximumQueueOctets = 1 << 20
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
    public var patience = 10
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
