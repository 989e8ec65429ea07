internal import Bytes

/// Names one request: 128 bits, time first, as 26 characters of Crockford's base 32 (a ULID; H205), or
/// the name that a trusted proxy gave it.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64
    /// An object, so that ids of our own stay as small as they are and cost nothing to copy.
    private let adopted: Adopted?

    /// A name from outside.
    private final class Adopted: Sendable {
        let bytes: [UInt8]
        init(_ bytes: [UInt8]) { self.bytes = bytes }
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
        let isName = name.allSatisfy { byte in
            "._-0123456789".utf8.contains(byte) || (0x61...0x7A).contains(byte.asciiLowercased)
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
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The longest text of an id.
    static let maximumSize = 64

    /// Appends the characters without making a string.
    public func append(to bytes: inout [UInt8]) {
        bytes.append(atMost: Self.maximumSize) { text in append(to: &text) }
    }

    /// 130 bits in two rows of 13 digits: the first two bits are always zero, and the first digit of
    /// the second row takes the bit that the first row leaves of the upper half.
    func append(to text: inout OutputSpan<UInt8>) {
        if let adopted {
            let bytes = adopted.bytes
            return text.append(bytes.span)
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

/// Which distributed trace a request belongs to (`traceparent`, W3C Trace Context levels 1 and 2).
public struct TraceParent: Sendable, Equatable {
    /// The 16 bytes of the trace in lower-case hexadecimal digits, not all of them zero.
    public let traceID: String
    /// The 8 bytes of the caller's own step, likewise.
    public let parentID: String
    /// What holds of the trace, a bit each, as the caller says: 1 that it is kept, 2 that its id is random.
    public let flags: UInt8

    /// Reads the field; `nil` for what is none, which is then as good as absent (Trace Context §3.2.2), and
    /// for several (H198). Nobody but a trusted peer is to be asked about.
    public init?(_ fields: Fields) {
        guard fields.occurrences(of: "traceparent") == 1,
            let bytes = fields.bytes("traceparent")
        else { return nil }
        self.init(bytes)
    }

    /// A later version is read as far as this one goes; what stands behind is not ours to know.
    private init?(_ bytes: ArraySlice<UInt8>) {
        let parts = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count >= 4,
            zip(parts, [2, 32, 16, 2]).allSatisfy({ part, count in
                part.count == count && part.allSatisfy(Self.isDigit)
            })
        else { return nil }
        let version = String(decoding: parts[0], as: UTF8.self)
        guard version != "ff", version != "00" || parts.count == 4 else { return nil }
        guard [parts[1], parts[2]].allSatisfy({ $0.contains { $0 != UInt8(ascii: "0") } }),
            let flags = UInt8(String(decoding: parts[3], as: UTF8.self), radix: 16)
        else { return nil }
        traceID = String(decoding: parts[1], as: UTF8.self)
        parentID = String(decoding: parts[2], as: UTF8.self)
        self.flags = flags
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}

extension Request {
    /// The trace it belongs to, as a trusted proxy says (X5, H198); `nil` for none.
    public var trace: TraceParent? { isProxied ? TraceParent(fields) : nil }
}
