/// A whole message of a WebSocket, whatever fragments it came in.
public enum WebSocketMessage: Hashable, Sendable {
    /// Octets that are UTF-8, checked; kept as octets, since most readers parse them as such.
    case text([UInt8])
    /// Any octets.
    case binary([UInt8])

    /// The content.
    public var octets: [UInt8] {
        switch self {
        case .text(let octets), .binary(let octets): octets
        }
    }
}
