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

    /// 130 bits in two rows of 13 digits: the first two bits are always zero, and the first digit of
    /// the second row takes the bit that the first row leaves of the upper half.
    func append(to text: inout OutputSpan<UInt8>) {
        text.append(digit(high >> 61))
        for place in 1...12 { text.append(digit(high &>> UInt64(61 - 5 * place))) }
        text.append(digit(high << 4 | low >> 60))
        for place in 1...12 { text.append(digit(low &>> UInt64(60 - 5 * place))) }
    }

    /// The digit of the lowest five bits.
    private func digit(_ bits: UInt64) -> UInt8 {
        // The pointer of a StaticString lives as long as the program, and no index is above 31.
        unsafe Self.alphabet.utf8Start[Int(truncatingIfNeeded: bits & 31)]
    }

    private static let alphabet: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
}
