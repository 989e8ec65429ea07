internal import Octets

/// Names one request: 128 bits, time first, as 26 characters of Crockford's base 32 (a ULID; H205), or
/// the name that a trusted proxy gave it.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64
    /// An object, so that ids of our own stay as small as they are and cost nothing to copy.
    private let adopted: Adopted?

    /// A name from outside.
    private final class Adopted: Sendable {
        let octets: [UInt8]
        init(_ octets: [UInt8]) { self.octets = octets }
    }

    /// Takes the two halves: 48 bits of milliseconds and 16 of randomness, then 64 of randomness.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
        adopted = nil
    }

    /// Takes over a name of 1 to 64 letters, digits, dots, underscores and hyphens; the id is our own
    /// for anything else, and for none (H205).
    func adopting(_ name: ArraySlice<UInt8>?) -> RequestID {
        guard let name, (1...64).contains(name.count) else { return self }
        let isName = name.allSatisfy { octet in
            "._-0123456789".utf8.contains(octet) || (0x61...0x7A).contains(octet.asciiLowercased)
        }
        return isName ? RequestID(self, Adopted(Array(name))) : self
    }

    private init(_ own: RequestID, _ adopted: Adopted) {
        (high, low) = (own.high, own.low)
        self.adopted = adopted
    }

    /// Ids are made once each, so our own part tells them apart, whatever proxies call them.
    public static func == (left: RequestID, right: RequestID) -> Bool {
        left.high == right.high && left.low == right.low
    }

    /// The same as what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }

    /// The 26 characters, or the name from outside.
    public var description: String {
        var octets: [UInt8] = []
        append(to: &octets)
        return String(decoding: octets, as: UTF8.self)
    }

    /// The longest text of an id.
    static let maximumSize = 64

    /// Appends the characters without making a string.
    public func append(to octets: inout [UInt8]) {
        octets.append(atMost: Self.maximumSize) { text in append(to: &text) }
    }

    /// 130 bits in two rows of 13 digits: the first two bits are always zero, and the first digit of
    /// the second row takes the bit that the first row leaves of the upper half.
    func append(to text: inout OutputSpan<UInt8>) {
        if let adopted {
            let octets = adopted.octets
            return text.append(octets.span)
        }
        precondition(text.freeCapacity >= 26)
        unsafe text.withUnsafeMutableBufferPointer { storage, count in
            let first = unsafe storage.baseAddress.unsafelyUnwrapped + count
            unsafe first[0] = digit(high >> 61)
            for place in 1...12 { unsafe first[place] = digit(high &>> UInt64(61 - 5 * place)) }
            unsafe first[13] = digit(high << 4 | low >> 60)
            for place in 1...12 { unsafe first[13 + place] = digit(low &>> UInt64(60 - 5 * place)) }
            count += 26
        }
    }

    /// The digit of the lowest five bits.
    @inline(__always)
    private func digit(_ bits: UInt64) -> UInt8 {
        // The pointer of a StaticString lives as long as the program, and no index is above 31.
        unsafe Self.alphabet.utf8Start[Int(truncatingIfNeeded: bits & 31)]
    }

    private static let alphabet: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
}
