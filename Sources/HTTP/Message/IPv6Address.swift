internal import Octets

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
        let octets = [UInt8](capacity: 39) { text in append(to: &text) }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Appends the same, at most 39 octets.
    func append(to text: inout OutputSpan<UInt8>) {
        for place in 0..<8 {
            if place > 0 { text.append(UInt8(ascii: ":")) }
            let half = place < 4 ? high : low
            let group = half >> UInt64(48 - place % 4 * 16) & 0xFFFF
            // Without the zeros in front, but for the last digit.
            for shift: UInt64 in [12, 8, 4, 0] where shift == 0 || group >> shift > 0 {
                let digit = UInt8(truncatingIfNeeded: group >> shift & 15)
                text.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
        }
    }
}
