/// The escapes of JSON strings (RFC 8259 §7), in both directions.
enum JSONEscape {
    /// The byte that a backslash and a letter stand for; `nil` when the letter names none.
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

    /// The letter that stands behind a backslash for a byte; `nil` when it has no short form.
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

    /// The characters of a string the parser has accepted, in UTF-8.
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

    /// Reads what follows `\u`: four digits, or a pair of surrogates.
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

// Strings are mostly plain text, and this is the loop that steps over it, eight bytes at a time.

/// The first byte from `start` that is a quote, a backslash, a control character or beyond ASCII;
/// the end when there is none.
func endOfPlainASCII(in bytes: [UInt8], from start: Int) -> Int {
    let span = bytes.span
    var place = start
    while place <= span.count - 8 {
        let word = eightBytes(of: span, at: place)
        let stops = marks(ofSpecial: word) | word & 0x8080_8080_8080_8080
        if stops != 0 { return place + stops.trailingZeroBitCount / 8 }
        place += 8
    }
    while place < span.count, span[place] < 0x80, !isSpecial(span[place]) { place += 1 }
    return place
}

/// The first byte from `start` that has to be escaped in a JSON string; the end when there is none.
func endOfUnescaped(in bytes: Span<UInt8>, from start: Int) -> Int {
    var place = start
    while place <= bytes.count - 8 {
        let stops = marks(ofSpecial: eightBytes(of: bytes, at: place))
        if stops != 0 { return place + stops.trailingZeroBitCount / 8 }
        place += 8
    }
    while place < bytes.count, !isSpecial(bytes[place]) { place += 1 }
    return place
}

private func isSpecial(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
}

/// Sets the top bit of each byte that is special, exactly up to the first of them.
///
/// Subtracting borrows from a byte only when the byte below it was special, so whatever the borrow
/// spoils stands behind the mark that counts. ("Bit Twiddling Hacks", *determine if a word has a
/// byte less than n*.)
private func marks(ofSpecial word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
    let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
    let control = (word &- ones &* 0x20) & ~word
    return (control | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes)
        & 0x8080_8080_8080_8080
}

/// Eight bytes as one word, the first in its lowest bits.
private func eightBytes(of bytes: Span<UInt8>, at place: Int) -> UInt64 {
    // Holds because both callers leave the loop before fewer than eight bytes remain, and the load
    // itself checks the offset once more.
    UInt64(
        littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(
            fromByteOffset: place, as: UInt64.self))
}
