/// Names one thing of kind `Subject`: a UUID (RFC 9562), 128 bits.
///
/// Text is read in any case and written in lower case; order is the order of the bytes.
public struct Identifier<Subject>: Hashable, Comparable, Sendable {
    // Two words and not one UInt128: Swift 6.3 miscompiles asynchronous calls whose 128-bit
    // arguments do not fit into registers (the callee's context is lost).
    private let high: UInt64
    private let low: UInt64

    private init(bits: UInt128) {
        high = UInt64(truncatingIfNeeded: bits >> 64)
        low = UInt64(truncatingIfNeeded: bits)
    }

    private var bits: UInt128 { UInt128(high) << 64 | UInt128(low) }

    /// Reads `8-4-4-4-12` hexadecimal digits of any case; `nil` for every other text.
    public init?(uuid text: some StringProtocol) {
        var bits: UInt128 = 0
        var place = 0
        for byte in text.utf8 {
            switch place {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return nil }
            default:
                guard place < 36, let digit = Self.digit(byte) else { return nil }
                bits = bits << 4 | UInt128(digit)
            }
            place += 1
        }
        guard place == 36 else { return nil }
        self.init(bits: bits)
    }

    /// Reads sixteen bytes in network order; `nil` for any other number of them.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(bits: bytes.reduce(0) { bits, byte in bits << 8 | UInt128(byte) })
    }

    /// The same bits as the name of something else, for keys that become ids.
    public init<Other>(_ other: Identifier<Other>) {
        high = other.high
        low = other.low
    }

    /// A new time-ordered identifier, version 7 (RFC 9562 §5.7).
    ///
    /// - Parameters:
    ///   - moment: Its milliseconds fill the first 48 bits.
    ///   - random: 74 of its bits fill the rest; two equal values within one millisecond collide.
    public static func v7(at moment: Timestamp, random: UInt128) -> Identifier {
        let time = UInt128(truncatingIfNeeded: moment.milliseconds) & 0xFFFF_FFFF_FFFF
        let high = random >> 64 & 0xFFF
        let low = random & 0x3FFF_FFFF_FFFF_FFFF
        return Identifier(bits: time << 80 | 7 << 76 | high << 64 | 2 << 62 | low)
    }

    /// Lower-case text, 36 ASCII characters.
    public var uuid: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for place in 0..<32 {
            if place == 8 || place == 12 || place == 16 || place == 20 {
                text.append(UInt8(ascii: "-"))
            }
            text.append(digits[Int(bits >> UInt128(124 - place * 4) & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The sixteen bytes in network order.
    public var bytes: [UInt8] {
        (0..<16).map { place in UInt8(truncatingIfNeeded: bits >> UInt128(120 - place * 8)) }
    }

    /// Order of the bytes.
    public static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Identifier: CustomStringConvertible {
    /// The lower-case UUID.
    public var description: String { uuid }
}
