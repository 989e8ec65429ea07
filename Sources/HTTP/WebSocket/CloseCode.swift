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
    public static let unacceptable = CloseCode(1003)
    /// The peer's close frame carried no code; never on the wire.
    public static let unstated = CloseCode(1005)
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
