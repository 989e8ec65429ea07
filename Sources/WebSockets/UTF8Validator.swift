/// An incremental UTF-8 validator that fails at the first invalid byte (H137).
///
/// Overlong forms, surrogates and values above U+10FFFF fail at their second byte, by the narrower
/// range in the table of RFC 3629 §4.
struct UTF8Validator: Sendable {
    /// How many continuation bytes are missing.
    private var awaited: UInt8 = 0
    /// The range of the next continuation byte.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Whether the text may end here, not inside a sequence.
    var isComplete: Bool { awaited == 0 }

    /// Validates the next bytes; false when one is invalid.
    mutating func take(_ bytes: Span<UInt8>) -> Bool {
        let count = bytes.count
        // Used only inside the call, at indices below `count`.
        return unsafe bytes.withUnsafeBytes { bytes in
            var index = 0
            while index < count {
                // ASCII, the common case, is skipped eight bytes at a time; the load stays below
                // `count`.
                if awaited == 0, index + 8 <= count,
                    unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                        & 0x8080_8080_8080_8080 == 0
                {
                    index += 8
                    continue
                }
                guard take(unsafe bytes[index]) else { return false }
                index += 1
            }
            return true
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        if awaited > 0 {
            guard byte >= lowest, byte <= highest else { return false }
            awaited -= 1
            (lowest, highest) = (0x80, 0xBF)
            return true
        }
        switch byte {
        case 0x00...0x7F: return true
        case 0xC2...0xDF: awaited = 1
        case 0xE0: (awaited, lowest) = (2, 0xA0)
        case 0xED: (awaited, highest) = (2, 0x9F)
        case 0xE1...0xEF: awaited = 2
        case 0xF0: (awaited, lowest) = (3, 0x90)
        case 0xF4: (awaited, highest) = (3, 0x8F)
        case 0xF1...0xF3: awaited = 3
        default: return false
        }
        return true
    }
}
