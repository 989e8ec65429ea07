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

    /// Creates the id from its bytes in network order, as two numbers.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates the id with the same bits as an id of another type, for keys that become ids.
    public init<Other>(_ other: Identifier<Other>) {
        high = other.high
        low = other.low
    }

    /// Creates a time-ordered identifier, version 7 (RFC 9562 §5.7).
    ///
    /// - Parameters:
    ///   - moment: The time; its milliseconds are the first 48 bits.
    ///   - random: A random number; 74 of its bits follow, so equal numbers in one millisecond give equal ids.
    public static func v7(at moment: Timestamp, random: UInt128) -> Identifier {
        let time = UInt128(truncatingIfNeeded: moment.milliseconds) & 0xFFFF_FFFF_FFFF
        let high = random >> 64 & 0xFFF
        let low = random & 0x3FFF_FFFF_FFFF_FFFF
        return Identifier(bits: time << 80 | 7 << 76 | high << 64 | 2 << 62 | low)
    }

    /// The text in lower case, 36 ASCII characters.
    public var uuid: String {
        String(decoding: [UInt8](capacity: Self.textSize, initializingWith: append), as: UTF8.self)
    }

    /// The number of characters of ``uuid``.
    public static var textSize: Int { 36 }

    /// Appends ``uuid``.
    public func append(to text: inout OutputSpan<UInt8>) {
        text.append(hexadecimal: high &>> 32, digits: 8)
        text.append(UInt8(ascii: "-"))
        text.append(hexadecimal: high &>> 16, digits: 4)
        text.append(UInt8(ascii: "-"))
        text.append(hexadecimal: high, digits: 4)
        text.append(UInt8(ascii: "-"))
        text.append(hexadecimal: low &>> 48, digits: 4)
        text.append(UInt8(ascii: "-"))
        text.append(hexadecimal: low &>> 32, digits: 4)
        text.append(hexadecimal: low, digits: 8)
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
}

extension Identifier: CustomStringConvertible {
    /// The lower-case UUID.
    public var description: String { uuid }
}

extension StringProtocol {
    /// Whether every database can store this text: PostgreSQL cannot store U+0000.
    ///
    /// It is checked for each text that is stored in a column.
    package var isStorable: Bool { !utf8.contains(0) }
}

extension OutputSpan<UInt8> {
    /// Appends the last hexadecimal digits of a number, at most 8.
    @inline(__always)
    fileprivate mutating func append(hexadecimal number: UInt64, digits: Int) {
        // Spreads eight digits over the low halves of eight bytes, then converts all of them to characters at once.
        var spread = number & 0xFFFF_FFFF
        spread = (spread &<< 16 | spread) & 0x0000_FFFF_0000_FFFF
        spread = (spread &<< 8 | spread) & 0x00FF_00FF_00FF_00FF
        spread = (spread &<< 4 | spread) & 0x0F0F_0F0F_0F0F_0F0F
        let areLetters = (spread &+ 0x0606_0606_0606_0606) &>> 4 & 0x0101_0101_0101_0101
        let characters = spread &+ 0x3030_3030_3030_3030 &+ areLetters &* 0x27
        for shift in stride(from: 8 * (digits - 1), through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: characters &>> UInt64(shift)))
        }
    }
}
