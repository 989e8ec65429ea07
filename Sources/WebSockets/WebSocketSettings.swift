/// Settings of a WebSocket, with the defaults of the HTTP rules.
public struct WebSocketSettings: Sendable {
    /// The largest message in bytes, after decompression (H138, H150).
    public var maximumMessage = 1 << 20
    /// The largest frame in bytes (H138).
    public var maximumFrame = 1 << 20
    /// The most fragments of one message (H135).
    public var maximumFragments = 1024
    /// The most bytes queued for a slow client beyond the connection's own buffer (H144).
    public var maximumQueueBytes = 1 << 20
    /// The most messages queued for a slow client (H144).
    public var maximumQueueMessages = 1000
    /// The close code for a client that is too slow: 1008, or 1013 where it may retry (H144).
    public var slowConsumerCode = CloseCode.policyViolation
    /// How often the server sends a ping, in milliseconds (H143).
    public var pingInterval: Int64 = 30_000
    /// How long a client may send no frame, in milliseconds (H143).
    public var idleTimeout: Int64 = 75_000
    /// How long a client may take to answer a close frame, in milliseconds (H141).
    public var closeTimeout: Int64 = 5_000
    /// The period over which a stopping server closes its sockets, in milliseconds (H147).
    public var drainSpread: Int64 = 5_000
    /// How many messages a client may send per second, control frames included (H145).
    public var messagesPerSecond: Int64 = 50
    /// How many messages a client may send at once after a pause (H145).
    public var burst: Int64 = 200
    /// How many seconds in a row a client that sends too much is throttled before it is
    /// disconnected (H145).
    public var maximumThrottledSeconds = 10
    /// Whether only text messages are accepted (H149).
    public var isTextOnly = false
    /// The origins whose pages may open a socket, as browsers write them; `*` for all (H129).
    ///
    /// Requests without an origin are not from browsers and are not checked.
    public var origins: [String] = []
    /// The supported subprotocols, the preferred one first (H130).
    public var subprotocols: [String] = []
    /// Whether a client that offers none of them is refused (H130).
    public var requiresSubprotocol = false
    /// How messages are compressed; `nil` for no compression (H120, H150).
    public var compression: WebSocketCompression?

    /// The default settings.
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

/// The compression policy for clients that offer `permessage-deflate` (RFC 7692, H150).
///
/// Every message is compressed without context, in both directions: a context would cost a quarter
/// of a megabyte per socket and would let the size of one message reveal a secret in another.
/// Messages that mix a secret with text chosen by others must not be compressed at all (H115): do
/// not use this for routes with such messages.
public struct WebSocketCompression: Sendable {
    /// The compressor's largest window, 9…15 bits; a client may request a smaller one.
    public var windowBits: Int
    /// Messages below this size in bytes are not compressed.
    public var minimum: Int

    /// Makes a policy; `windowBits` is clamped to 9…15.
    public init(windowBits: Int = 15, minimum: Int = 1024) {
        self.windowBits = min(max(windowBits, 9), 15)
        self.minimum = minimum
    }
}

/// A close code of a WebSocket (RFC 6455 §7.4).
public struct CloseCode: Hashable, Sendable {
    /// The number in the close frame.
    public let number: UInt16

    /// Makes a code; see ``isSendable`` for the codes that a close frame may carry.
    public init(_ number: UInt16) { self.number = number }

    /// Normal closure.
    public static let normal = CloseCode(1000)
    /// The server stops (H147), or the client was idle for too long (H143).
    public static let goingAway = CloseCode(1001)
    /// A protocol violation.
    public static let protocolError = CloseCode(1002)
    /// An unsupported type of data (H149).
    public static let unsupportedData = CloseCode(1003)
    /// The peer's close frame carried no code; never sent.
    public static let noStatusReceived = CloseCode(1005)
    /// The connection ended without a close frame; never sent.
    public static let abnormal = CloseCode(1006)
    /// Data that does not match its type: text that is not UTF-8 (H137).
    public static let invalidData = CloseCode(1007)
    /// A policy violation: too many messages (H145), or a client that reads too slowly (H144).
    public static let policyViolation = CloseCode(1008)
    /// A message or a frame over the limit (H138).
    public static let tooBig = CloseCode(1009)
    /// The server failed.
    public static let internalError = CloseCode(1011)
    /// The server is overloaded; the client may retry (H144).
    public static let tryAgainLater = CloseCode(1013)
    /// The session of the socket has expired or was ended (H146, ruling 46).
    public static let sessionEnded = CloseCode(4401)

    /// Whether a close frame may carry the code (H140).
    public var isSendable: Bool {
        switch number {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
