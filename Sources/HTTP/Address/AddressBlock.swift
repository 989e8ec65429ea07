/// A block of addresses: `10.0.0.0/8`, `2001:db8::/32`, a single address, or `unix` for the peers
/// of Unix sockets.
public struct AddressBlock: Sendable, Hashable, CustomStringConvertible {
    fileprivate enum Kind: Hashable {
        case ipv4(UInt32, mask: UInt32)
        case ipv6(IPv6Address, mask: IPv6Address)
        case local
    }

    private let kind: Kind
    /// The text from which the block was made.
    public let description: String

    /// Parses one of these forms; `nil` for anything else. Bits after the prefix are rejected,
    /// because `10.0.0.1/8` could mean one address or many.
    public init?(_ text: String) {
        guard let kind = Kind(text) else { return nil }
        self.kind = kind
        description = text
    }

    /// Whether an address is in the block. An IPv4 address is in no IPv6 block.
    public func contains(_ peer: PeerAddress) -> Bool {
        switch (kind, peer) {
        case (.ipv4(let network, let mask), .ipv4(let address, _)): address & mask == network
        case (.ipv6(let network, let mask), .ipv6(let address, _)): address & mask == network
        case (.local, .local): true
        default: false
        }
    }
}

extension AddressBlock.Kind {
    fileprivate init?(_ text: String) {
        if text == "unix" {
            self = .local
            return
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let address = parts.first, parts.count <= 2 else { return nil }
        let digits = parts.count == 2 ? parts[1] : nil
        guard digits.map({ digits in digits.count <= 3 }) ?? true else { return nil }
        let prefix = digits.map { digits in Int64(decimal: digits) ?? 129 }
        if let bits = IPv4Text.address(address) {
            let prefix = prefix ?? 32
            guard prefix <= 32 else { return nil }
            // A shift by the full width gives zero.
            let mask = UInt32.max << (32 - prefix)
            guard bits & mask == bits else { return nil }
            self = .ipv4(bits, mask: mask)
        } else if let address = IPv6Text.address(address) {
            let prefix = prefix ?? 128
            guard prefix <= 128, address.mappedIPv4 == nil else { return nil }
            let mask = IPv6Address(
                high: .max << max(64 - prefix, 0), low: .max << min(128 - prefix, 64))
            guard address & mask == address else { return nil }
            self = .ipv6(address, mask: mask)
        } else {
            return nil
        }
    }
}

extension IPv6Address {
    fileprivate static func & (left: IPv6Address, right: IPv6Address) -> IPv6Address {
        IPv6Address(high: left.high & right.high, low: left.low & right.low)
    }
}

/// The addresses to which the server may send requests on behalf of a caller.
///
/// A server that requests any address given to it can be used to reach hosts that trust it: itself,
/// its network, and cloud metadata services. So only public Internet addresses are allowed, unless
/// the operator lists others.
public struct OutboundRule: Sendable, Equatable {
    /// Blocks that are allowed although they are not public.
    public var allowedNetworks: [AddressBlock] = []
    /// Whether unencrypted requests are allowed.
    public var allowsHTTP = false

    /// Allows only encrypted requests to public addresses.
    public init() {}

    /// Whether requests to an address are allowed.
    public func admits(_ peer: PeerAddress) -> Bool {
        let peer = peer.unmapped
        return allowedNetworks.contains { block in block.contains(peer) } || peer.isPublic
    }
}

extension PeerAddress {
    /// The IPv4 address of an IPv4-mapped IPv6 address; otherwise the address itself.
    fileprivate var unmapped: PeerAddress {
        guard case .ipv6(let address, let port) = self else { return self }
        return PeerAddress(address, port: port)
    }

    /// Whether it is a public Internet address (RFC 6890 and the IANA special-purpose registries).
    fileprivate var isPublic: Bool {
        switch self {
        case .ipv4: !Self.reserved.contains { block in block.contains(self) }
        // Only the allocated part of IPv6 is public, without the special-purpose blocks in it.
        case .ipv6:
            Self.global.contains { block in block.contains(self) }
                && !Self.reserved.contains { block in block.contains(self) }
        case .local, .unknown: false
        }
    }

    private static let global = ["2000::/3"].compactMap(AddressBlock.init)

    private static let reserved = [
        // This network, private networks, carrier-grade NAT, loopback, link-local (with it the
        // metadata services of clouds).
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.168.0.0/16",
        // Protocol assignments, documentation, benchmarks.
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24",
        // The Azure metadata service, on a public address.
        "168.63.129.16",
        // Multicast, reserved, broadcast.
        "224.0.0.0/4", "240.0.0.0/4",
        // Protocol assignments (with tunnels to IPv4), documentation, and 6to4.
        "2001::/23", "2001:db8::/32", "3fff::/20", "2002::/16",
    ].compactMap(AddressBlock.init)
}
