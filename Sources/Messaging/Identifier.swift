/// The id of an object of type `Subject`: a UUID (RFC 9562), 128 bits.
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

    /// Reads `8-4-4-4-12` hexadecimal digits of any case; `nil` for every other text.
    public init?(uuid text: some StringProtocol) {
        var (high, low): (UInt64, UInt64) = (0, 0)
        var index = 0
        for byte in text.utf8 {
            switch index {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return nil }
            case 0..<18:
                guard let digit = Self.digit(byte) else { return nil }
                high = high &<< 4 | digit
            default:
                guard index < 36, let digit = Self.digit(byte) else { return nil }
                low = low &<< 4 | digit
            }
            index += 1
        }
        guard index == 36 else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// Reads sixteen bytes in network order; `nil` for any other number of them.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for byte in bytes {
            high = high &<< 8 | low &>> 56
            low = low &<< 8 | UInt64(byte)
        }
        (self.high, self.low) = (high, low)
    }

    /// An id of another type with the same bits, for keys that become ids.
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
        var text = [UInt8](repeating: UInt8(ascii: "-"), count: 36)
        var index = 0
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            if index == 8 || index == 13 { index += 1 }
            text[index] = Self.character(high &>> shift & 0xF)
            index += 1
        }
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            if index == 18 || index == 23 { index += 1 }
            text[index] = Self.character(low &>> shift & 0xF)
            index += 1
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The sixteen bytes in network order.
    public var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16)
        for index in 0..<8 {
            let shift = UInt64(56 - 8 * index)
            bytes[index] = UInt8(truncatingIfNeeded: high &>> shift)
            bytes[8 + index] = UInt8(truncatingIfNeeded: low &>> shift)
        }
        return bytes
    }

    /// Order of the bytes.
    public static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    private static func character(_ digit: UInt64) -> UInt8 {
        let digit = UInt8(truncatingIfNeeded: digit)
        return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
    }
}

extension Identifier: CustomStringConvertible {
    /// The lower-case UUID.
    public var description: String { uuid }
}

extension StringProtocol {
    /// Whether every database can store this text: PostgreSQL cannot store U+0000.
    ///
    /// Checked for each text that is a column.
    package var isStorable: Bool { !utf8.contains(0) }
}
