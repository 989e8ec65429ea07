/// Sixteen octets of an IPv6 address, most significant first.
///
/// Two words and not one `UInt128`: Swift 6.3 miscompiles asynchronous calls whose arguments are
/// aligned to sixteen octets, and addresses travel with requests through many of those.
public struct IPv6Address: Sendable, Hashable, CustomStringConvertible {
    /// The first eight octets.
    public let high: UInt64
    /// The last eight octets.
    public let low: UInt64

    /// Takes the two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// `::`, which stands for every address of this machine.
    public static let any = IPv6Address(high: 0, low: 0)
    /// `::1`.
    public static let loopback = IPv6Address(high: 0, low: 1)

    /// The IPv4 address that a dual-stack socket shows in this form (RFC 4291 §2.5.5.2), if it is one.
    public var mappedIPv4: UInt32? {
        high == 0 && low >> 32 == 0xFFFF ? UInt32(truncatingIfNeeded: low) : nil
    }

    /// Eight groups of up to four digits, unabridged.
    public var description: String {
        [high, low].flatMap { half in
            stride(from: 48, through: 0, by: -16).map { shift in
                String(UInt16(truncatingIfNeeded: half >> UInt64(shift)), radix: 16)
            }
        }
        .joined(separator: ":")
    }
}
