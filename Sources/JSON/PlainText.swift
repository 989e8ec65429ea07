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
