internal import Octets

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

    /// The address without its port, IPv6 unabridged in groups of up to four digits.
    public var description: String {
        var octets: [UInt8] = []
        append(to: &octets)
        return String(decoding: octets, as: UTF8.self)
    }

    /// Appends the same without making a string.
    public func append(to octets: inout [UInt8]) {
        // The longest is an IPv6 address: eight groups of four digits.
        octets.append(atMost: 39) { text in
            switch self {
            case .ipv4(let bits, _):
                text.append(decimal: UInt64(bits >> 24))
                for shift: UInt32 in [16, 8, 0] {
                    text.append(UInt8(ascii: "."))
                    text.append(decimal: UInt64(bits >> shift & 255))
                }
            case .ipv6(let address, _): address.append(to: &text)
            case .local: text.append("unix")
            case .unknown: text.append("unknown")
            }
        }
    }
}
