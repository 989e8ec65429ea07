/// A block of addresses: `10.0.0.0/8`, `2001:db8::/32`, a single address, or `unix` for the peers of
/// Unix sockets.
public struct AddressBlock: Sendable, Hashable, CustomStringConvertible {
    fileprivate enum Kind: Hashable {
        case ipv4(UInt32, mask: UInt32)
        case ipv6(IPv6Address, mask: IPv6Address)
        case local
    }

    private let kind: Kind
    /// The block as it was written.
    public let description: String

    /// Reads the forms above; `nil` for anything else, and for bits behind the prefix, because
    /// `10.0.0.1/8` names either one address or many.
    public init?(_ text: String) {
        guard let kind = Kind(text) else { return nil }
        self.kind = kind
        description = text
    }

    /// Whether an address lies in the block; an IPv4 address never lies in one of IPv6.
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
            // A shift by the whole width gives zero.
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

/// Where requests may go that somebody outside asks for.
///
/// A server that calls whatever address it is given reaches machines that trust it and nobody else: its
/// own, those of its network, and the services that tell a rented machine its secrets. So only addresses
/// of the public Internet are called, unless an operator has listed others.
public struct OutboundRule: Sendable, Equatable {
    /// Blocks that may be called although they are not public.
    public var allowedNetworks: [AddressBlock] = []
    /// Whether requests may go unencrypted.
    public var allowsHTTP = false

    /// Nothing but public addresses, and those encrypted.
    public init() {}

    /// Whether an address may be called.
    public func admits(_ peer: PeerAddress) -> Bool {
        let peer = peer.unmapped
        return allowedNetworks.contains { block in block.contains(peer) } || peer.isPublic
    }
}

extension PeerAddress {
    /// An IPv4 address however it is written.
    fileprivate var unmapped: PeerAddress {
        guard case .ipv6(let address, let port) = self else { return self }
        return PeerAddress(address, port: port)
    }

    /// Whether it belongs to the public Internet (RFC 6890 and the registries it made).
    fileprivate var isPublic: Bool {
        switch self {
        case .ipv4: !Self.reserved.contains { block in block.contains(self) }
        // Of IPv6 only the part that is given out counts, less what stands for something else.
        case .ipv6:
            Self.global.contains { block in block.contains(self) }
                && !Self.reserved.contains { block in block.contains(self) }
        case .local, .unknown: false
        }
    }

    private static let global = ["2000::/3"].compactMap(AddressBlock.init)

    private static let reserved = [
        // This network, private ones, those of carriers, this machine, this link (and with it the
        // metadata of rented machines).
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.168.0.0/16",
        // Protocols, examples, measurements.
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24",
        // What machines at Azure ask about themselves: public by its number alone.
        "168.63.129.16",
        // Groups of machines, the future, and everybody.
        "224.0.0.0/4", "240.0.0.0/4",
        // Protocols (with tunnels to IPv4), examples, and IPv4 in another form.
        "2001::/23", "2001:db8::/32", "3fff::/20", "2002::/16",
    ].compactMap(AddressBlock.init)
}
