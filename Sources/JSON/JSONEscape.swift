/// The escapes of JSON strings (RFC 8259 §7): decoding and encoding.
enum JSONEscape {
    /// The byte that a backslash and this letter encode; `nil` when the letter is no short escape.
    static func character(after backslash: UInt8) -> UInt8? {
        switch backslash {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): backslash
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The letter of the short escape for a byte; `nil` when the byte has none.
    static func letter(for byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
        case 0x08: UInt8(ascii: "b")
        case 0x0C: UInt8(ascii: "f")
        case 0x0A: UInt8(ascii: "n")
        case 0x0D: UInt8(ascii: "r")
        case 0x09: UInt8(ascii: "t")
        default: nil
        }
    }

    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The text of a string that the parser has validated, with its escapes decoded, in UTF-8.
    static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let kind = rest.popFirst() else {
                plain.append(byte)
                continue
            }
            if let character = character(after: kind) {
                plain.append(character)
            } else {
                append(scalar(&rest), to: &plain)
            }
        }
        return plain
    }

    /// Decodes what follows `\u`: four digits, or a surrogate pair.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        let lead = unit(&rest)
        guard UTF16.isLeadSurrogate(lead) else { return Unicode.Scalar(lead) ?? "\u{FFFD}" }
        rest = rest.dropFirst(2)
        let trail = unit(&rest)
        guard UTF16.isTrailSurrogate(trail) else { return "\u{FFFD}" }
        let offset = UInt32(lead & 0x3FF) << 10 | UInt32(trail & 0x3FF)
        return Unicode.Scalar(0x10000 + offset) ?? "\u{FFFD}"
    }

    private static func unit(_ rest: inout ArraySlice<UInt8>) -> UInt16 {
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        return digits.reduce(0) { $0 << 4 | UInt16(hexDigit($1) ?? 0) }
    }

    private static func append(_ scalar: Unicode.Scalar, to plain: inout [UInt8]) {
        plain.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
}

// Most strings are plain text. These functions scan it eight bytes at a time.

/// The index of the first byte from `start` that is a quote, a backslash, a control character or
/// not ASCII; the end when there is none.
func endOfPlainASCII(in bytes: [UInt8], from start: Int) -> Int {
    let span = bytes.span
    var position = start
    while position <= span.count - 8 {
        let word = eightBytes(of: span, at: position)
        let stops = marks(ofSpecial: word) | word & 0x8080_8080_8080_8080
        if stops != 0 { return position + stops.trailingZeroBitCount / 8 }
        position += 8
    }
    while position < span.count, span[position] < 0x80, !isSpecial(span[position]) { position += 1 }
    return position
}

/// The index of the first byte from `start` that must be escaped in a JSON string; the end when
/// there is none.
func endOfUnescaped(in bytes: Span<UInt8>, from start: Int) -> Int {
    var position = start
    while position <= bytes.count - 8 {
        let stops = marks(ofSpecial: eightBytes(of: bytes, at: position))
        if stops != 0 { return position + stops.trailingZeroBitCount / 8 }
        position += 8
    }
    while position < bytes.count, !isSpecial(bytes[position]) { position += 1 }
    return position
}

private func isSpecial(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
}

/// Sets the top bit of each special byte, exact up to the first of them.
///
/// The subtraction borrows from a byte only when a lower byte was special, so a false mark is
/// always behind the first true one. (See "Bit Twiddling Hacks", *determine if a word has a byte
/// less than n*.)
private func marks(ofSpecial word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
    let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
    let control = (word &- ones &* 0x20) & ~word
    return (control | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes)
        & 0x8080_8080_8080_8080
}

/// Loads eight bytes as one word, the first byte lowest.
private func eightBytes(of bytes: Span<UInt8>, at position: Int) -> UInt64 {
    // In bounds because both callers stop before fewer than eight bytes remain; the load checks the
    // offset again.
    UInt64(
        littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(
            fromByteOffset: position, as: UInt64.self))
}
