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
