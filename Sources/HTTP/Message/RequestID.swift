internal import Bytes

/// The id of a request: 128 bits, time first, as 26 characters of Crockford's base 32 (a ULID;
/// H205), or the id that a trusted proxy assigned.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64
    /// A class, so that our own ids stay small and trivial to copy.
    private let adopted: Adopted?

    /// An id assigned by a proxy.
    private final class Adopted: Sendable {
        let bytes: [UInt8]
        init(_ bytes: [UInt8]) { self.bytes = bytes }
    }

    /// Makes an id of its two halves: 48 bits of milliseconds and 16 of randomness, then 64 of
    /// randomness.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
        adopted = nil
    }

    /// Adopts an id of 1 to 64 letters, digits, dots, underscores and hyphens; keeps our own id for
    /// anything else and for none (H205).
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

    /// Compares our own ids, which are unique whatever proxies assign.
    public static func == (left: RequestID, right: RequestID) -> Bool {
        left.high == right.high && left.low == right.low
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }

    /// The 26 characters, or the adopted id.
    public var description: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The longest text of an id, in bytes.
    private static let maximumSize = 64

    /// Appends ``description`` without making a string.
    public func append(to bytes: inout [UInt8]) {
        bytes.append(atMost: Self.maximumSize) { text in append(to: &text) }
    }

    /// Writes 130 bits as two rows of 13 digits. The first two bits are zero, and the first digit
    /// of the second row includes the lowest bit of the upper half.
    func append(to text: inout OutputSpan<UInt8>) {
        if let adopted {
            let bytes = adopted.bytes
            return text.append(bytes.span)
        }
        precondition(text.freeCapacity >= 26)
        // 26 bytes are free, as checked before.
        unsafe text.withUnsafeMutableBufferPointer { storage, count in
            let first = unsafe storage.baseAddress.unsafelyUnwrapped + count
            unsafe first[0] = digit(high >> 61)
            for index in 1...12 { unsafe first[index] = digit(high &>> UInt64(61 - 5 * index)) }
            unsafe first[13] = digit(high << 4 | low >> 60)
            for index in 1...12 { unsafe first[13 + index] = digit(low &>> UInt64(60 - 5 * index)) }
            count += 26
        }
    }

    /// The digit of the lowest five bits.
    @inline(__always)
    private func digit(_ bits: UInt64) -> UInt8 {
        // The pointer of a StaticString is valid for the life of the program, and no index exceeds
        // 31.
        unsafe Self.alphabet.utf8Start[Int(truncatingIfNeeded: bits & 31)]
    }

    private static let alphabet: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
}

/// The distributed trace of a request (`traceparent`, W3C Trace Context levels 1 and 2).
public struct TraceParent: Sendable, Equatable {
    /// The trace id: 16 bytes in lower-case hexadecimal, not all zero.
    public let traceID: String
    /// The caller's span id: 8 bytes in lower-case hexadecimal, not all zero.
    public let parentID: String
    /// The trace flags: bit 1 sampled, bit 2 random trace id.
    public let flags: UInt8

    /// Parses the field; `nil` when it is invalid, which counts as absent (Trace Context §3.2.2),
    /// or repeated. Only to be called for requests of a trusted peer (H198).
    public init?(_ fields: Fields) {
        guard fields.occurrences(of: "traceparent") == 1,
            let bytes = fields.bytes("traceparent")
        else { return nil }
        self.init(bytes)
    }

    /// Later versions are parsed as far as they match this one; the rest is ignored.
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
    /// The trace of the request as reported by a trusted proxy (X5, H198); `nil` without one.
    public var trace: TraceParent? { isProxied ? TraceParent(fields) : nil }
}
