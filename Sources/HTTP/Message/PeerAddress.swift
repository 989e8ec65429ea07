/// The address of the other end of a connection, kept as numbers until a log line wants its text.
public enum PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// Four octets, most significant first, and the port.
    case ipv4(UInt32, port: UInt16)
    /// The address and the port.
    case ipv6(IPv6Address, port: UInt16)
    /// A Unix socket.
    case local
    /// Not known, as in tests without a socket.
    case unknown

    /// The address without its port, IPv6 unabridged in groups of four digits.
    public var description: String {
        switch self {
        case .ipv4(let bits, _):
            "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
        case .ipv6(let address, _): address.description
        case .local: "unix"
        case .unknown: "unknown"
        }
    }
}
