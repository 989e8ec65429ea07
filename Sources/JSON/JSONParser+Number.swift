extension JSONParser {
    /// `[ minus ] int [ frac ] [ exp ]` (RFC 8259 §6); the digits stay text until asked for.
    mutating func parseNumber() throws(JSONError) {
        let start = place
        if bytes[place] == UInt8(ascii: "-") { place += 1 }
        if try nextByte() == UInt8(ascii: "0") {
            place += 1
            guard !isDigit(at: place) else { throw error(.invalidNumber) }
        } else {
            try takeDigits()
        }
        if place < bytes.count, bytes[place] == UInt8(ascii: ".") {
            place += 1
            try takeDigits()
        }
        if place < bytes.count, bytes[place] | 0x20 == UInt8(ascii: "e") {
            place += 1
            let sign = try nextByte()
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { place += 1 }
            try takeDigits()
        }
        guard place - start <= limits.numberLength else {
            throw JSONError(offset: start, reason: .numberTooLong(limit: limits.numberLength))
        }
        note(from: start, to: place)
    }

    /// One digit or more.
    private mutating func takeDigits() throws(JSONError) {
        _ = try nextByte()
        guard isDigit(at: place) else { throw error(.invalidNumber) }
        while isDigit(at: place) { place += 1 }
    }

    private func isDigit(at place: Int) -> Bool {
        place < bytes.count && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[place])
    }
}
