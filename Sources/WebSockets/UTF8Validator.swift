/// Tells whether bytes that come in pieces are UTF-8, failing at the first one that cannot be (H137).
///
/// Overlong forms, surrogates and what lies above U+10FFFF are refused at their second byte, by the
/// narrower range that the table of RFC 3629 §4 gives it.
struct UTF8Validator: Sendable {
    /// Continuation bytes still to come.
    private var awaited: UInt8 = 0
    /// What the next continuation byte may be.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// False inside a sequence: a text that ends here is not UTF-8.
    var isComplete: Bool { awaited == 0 }

    /// Takes the next bytes; false when one of them is not UTF-8.
    mutating func take(_ bytes: Span<UInt8>) -> Bool {
        let count = bytes.count
        return unsafe bytes.withUnsafeBytes { bytes in
            var index = 0
            while index < count {
                // Plain ASCII, the usual case, goes by eight; the load stays inside `count`.
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
