public import HTTP

/// The address of a listener: `127.0.0.1:8080`, `[::]:8080`, or `unix:/run/parley.sock`.
public enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// An IPv4 address, most significant byte first; with port 0 the system chooses a port.
    case ipv4(UInt32, port: UInt16)
    /// An IPv6 address; `[::]` also accepts IPv4 connections (dual stack, H193).
    case ipv6(IPv6Address, port: UInt16)
    /// The path of a Unix socket, at most 107 bytes.
    case unix(path: String)

    /// Parses an address in these forms; `localhost` and an empty host (`:8080`) are accepted, other host
    /// names are not resolved. `nil` for anything else.
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

    /// The text form that ``init(_:)`` parses.
    public var description: String {
        switch self {
        case .ipv4(let bits, let port):
            "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255):\(port)"
        case .ipv6(let bits, let port): "[\(SocketAddress.formatIPv6(bits))]:\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// An address at which a local client reaches this listener; for a wildcard address, loopback.
    public var reachable: ListenAddress {
        switch self {
        case .ipv4(0, let port): .ipv4(0x7F00_0001, port: port)
        case .ipv6(.any, let port): .ipv6(.loopback, port: port)
        case .ipv4, .ipv6, .unix: self
        }
    }

    /// Checks that a server could listen here, without listening; an address in use is no error.
    ///
    /// - Throws: ``SystemError`` when the address is not one of this machine or not permitted.
    public func check() throws(SystemError) { try Socket.check(self) }

    /// Whether a connection to one address may reach a listener on the other: the addresses are equal, or one is
    /// a wildcard with the same port. An address with port 0 is different from all others.
    public func overlaps(_ other: ListenAddress) -> Bool {
        switch (self, other) {
        case (.unix(let path), .unix(let other)): return path.utf8.elementsEqual(other.utf8)
        case (.ipv4(let bits, let port), .ipv4(let other, let otherPort)):
            return port == otherPort && port != 0 && (bits == other || bits == 0 || other == 0)
        case (.ipv6(let bits, let port), .ipv6(let other, let otherPort)):
            return port == otherPort && port != 0
                && (bits == other || bits == .any || other == .any)
        // The listener on all IPv6 addresses takes IPv4 connections, too.
        case (.ipv6(.any, let port), .ipv4(_, let other)),
            (.ipv4(_, let port), .ipv6(.any, let other)):
            return port == other && port != 0
        case (.ipv4, .ipv6), (.ipv6, .ipv4), (.unix, _), (_, .unix): return false
        }
    }

    /// The same address with another port; a Unix socket does not change.
    func with(port: UInt16) -> ListenAddress {
        switch self {
        case .ipv4(let bits, _): .ipv4(bits, port: port)
        case .ipv6(let bits, _): .ipv6(bits, port: port)
        case .unix: self
        }
    }
}
