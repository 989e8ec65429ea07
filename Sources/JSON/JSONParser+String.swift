extension JSONParser {
    /// Takes a string with its quotes (RFC 8259 §7), checking escapes and UTF-8 on the way.
    mutating func parseString() throws(JSONError) {
        let start = place
        var escapes: UInt32 = 0
        place += 1
        while true {
            place = endOfPlainASCII(in: bytes, from: place)
            switch try nextByte() {
            case UInt8(ascii: "\""):
                place += 1
                return note(from: start, to: place, escapes: escapes)
            case UInt8(ascii: "\\"):
                try takeEscape()
                escapes += 1
            case 0x80...:
                try takeMultibyteScalar()
            default:
                throw error(.controlCharacter)
            }
        }
    }

    private mutating func takeEscape() throws(JSONError) {
        let backslash = place
        place += 1
        guard try nextByte() == UInt8(ascii: "u") else {
            guard JSONEscape.character(after: bytes[place]) != nil else {
                throw JSONError(offset: backslash, reason: .invalidEscape)
            }
            place += 1
            return
        }
        place += 1
        let unit = try takeFourHexDigits(of: backslash)
        guard UTF16.isSurrogate(unit) else { return }
        guard UTF16.isLeadSurrogate(unit) else {
            throw JSONError(offset: backslash, reason: .loneSurrogate)
        }
        for expected in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
            guard try nextByte() == expected else {
                throw JSONError(offset: backslash, reason: .loneSurrogate)
            }
            place += 1
        }
        guard UTF16.isTrailSurrogate(try takeFourHexDigits(of: backslash)) else {
            throw JSONError(offset: backslash, reason: .loneSurrogate)
        }
    }

    private mutating func takeFourHexDigits(of backslash: Int) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = JSONEscape.hexDigit(try nextByte()) else {
                throw JSONError(offset: backslash, reason: .invalidEscape)
            }
            unit = unit << 4 | UInt16(digit)
            place += 1
        }
        return unit
    }

    /// Takes one scalar of two to four bytes: well-formed as in Unicode table 3-7, which leaves out
    /// overlong forms, surrogates and everything above U+10FFFF.
    private mutating func takeMultibyteScalar() throws(JSONError) {
        let second: ClosedRange<UInt8>
        let length: Int
        switch bytes[place] {
        case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: throw error(.invalidUTF8)
        }
        let start = place
        place += 1
        guard second.contains(try nextByte()) else {
            throw JSONError(offset: start, reason: .invalidUTF8)
        }
        place += 1
        while place < start + length {
            guard try nextByte() & 0xC0 == 0x80 else {
                throw JSONError(offset: start, reason: .invalidUTF8)
            }
            place += 1
        }
    }
}
