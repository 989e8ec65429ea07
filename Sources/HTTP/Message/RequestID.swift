/// Names one request: 128 bits, time first, as 26 characters of Crockford's base 32 (a ULID; H205).
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    /// Takes the two halves: 48 bits of milliseconds and 16 of randomness, then 64 of randomness.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The 26 characters.
    public var description: String {
        var octets: [UInt8] = []
        append(to: &octets)
        return String(decoding: octets, as: UTF8.self)
    }

    /// Appends the 26 characters without making a string.
    public func append(to octets: inout [UInt8]) {
        octets.append(addingCapacity: 26) { (text: inout OutputSpan<UInt8>) in append(to: &text) }
    }

    /// 130 bits in 26 digits: the first two are always zero.
    func append(to text: inout OutputSpan<UInt8>) {
        let bits = UInt128(high) << 64 | UInt128(low)
        // The pointer of a StaticString lives as long as the program.
        let alphabet = unsafe Self.alphabet.utf8Start
        let digits = InlineArray<26, UInt8> { place in
            unsafe alphabet[Int(truncatingIfNeeded: bits >> UInt128(125 - 5 * place)) & 31]
        }
        text.append(digits.span)
    }

    private static let alphabet: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
}
