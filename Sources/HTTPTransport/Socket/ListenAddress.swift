public import HTTP

/// Where a server listens: `127.0.0.1:8080`, `[::]:8080`, or `unix:/run/parley.sock`.
public enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// Four bytes, most significant first; port 0 lets the system choose.
    case ipv4(UInt32, port: UInt16)
    /// An address; `[::]` also takes IPv4 connections (dual stack, H193).
    case ipv6(IPv6Address, port: UInt16)
    /// A path of at most 107 bytes.
    case unix(path: String)

    /// Reads the forms above; `localhost` and an empty host (`:8080`) are understood, other names
    /// are not looked up. `nil` for anything else.
    public init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard !path.isEmpty, path.utf8.count <= 107 else { return nil }
            self = .unix(path: path)
            return
        }
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let digits = text.utf8[text.utf8.index(after: colon)...]
        guard
            (1...5).contains(digits.count),
            digits.allSatisfy({ byte in (0x30...0x39).contains(byte) }),
            let port = UInt16(String(text[text.index(after: colon)...]))
        else { return nil }
        let host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard let bits = SocketAddress.parseIPv6(String(host.dropFirst().dropLast())) else {
                return nil
            }
            self = .ipv6(bits, port: port)
        } else {
            let name = host == "localhost" ? "127.0.0.1" : host.isEmpty ? "0.0.0.0" : host
            guard let bits = SocketAddress.parseIPv4(name) else { return nil }
            self = .ipv4(bits, port: port)
        }
    }

    /// The text form, as it is read.
    public var description: String {
        switch self {
        case .ipv4(let bits, let port):
            "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255):\(port)"
        case .ipv6(let bits, let port): "[\(SocketAddress.formatIPv6(bits))]:\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// An address that leads to a server which listens on this one: any address is also loopback.
    public var reachable: ListenAddress {
        switch self {
        case .ipv4(0, let port): .ipv4(0x7F00_0001, port: port)
        case .ipv6(.any, let port): .ipv6(.loopback, port: port)
        case .ipv4, .ipv6, .unix: self
        }
    }

    /// The same address with another port; a Unix socket stays as it is.
    func with(port: UInt16) -> ListenAddress {
        switch self {
        case .ipv4(let bits, _): .ipv4(bits, port: port)
        case .ipv6(let bits, _): .ipv6(bits, port: port)
        case .unix: self
        }
    }
}
