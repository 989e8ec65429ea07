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
