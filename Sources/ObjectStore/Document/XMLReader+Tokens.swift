extension XMLReader {
    /// `<Name attribute="…">`, of which `<` was taken.
    mutating func begin() throws(XMLFault) -> Event {
        guard open.count < Self.deepest, !open.isEmpty || !hasRoot else {
            throw .refused(at: place)
        }
        hasRoot = true
        let name = try name()
        open.append(name)
        while true {
            let before = place
            passSpace()
            if take(">") { return .begin(name) }
            if take("/>") {
                isEndDue = true
                return .begin(name)
            }
            guard place > before else { throw .refused(at: place) }
            try passAttribute()
        }
    }

    private mutating func passAttribute() throws(XMLFault) {
        _ = try name()
        passSpace()
        guard take("=") else { throw .refused(at: place) }
        passSpace()
        guard let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw .refused(at: place)
        }
        place += 1
        while let octet = current, octet != quote {
            guard octet != UInt8(ascii: "<") else { throw .refused(at: place) }
            place += 1
        }
        guard current != nil else { throw .truncated }
        place += 1
    }

    mutating func name() throws(XMLFault) -> String {
        let start = place
        while let octet = current, Self.isName(octet, isFirst: place == start) { place += 1 }
        guard place < octets.count else { throw .truncated }
        guard (1...Self.longestName).contains(place - start) else { throw .refused(at: place) }
        return String(decoding: octets[start..<place], as: UTF8.self)
    }

    /// Text up to the next `<`.
    mutating func characters() throws(XMLFault) -> String {
        var text: [UInt8] = []
        while let octet = current, octet != UInt8(ascii: "<") {
            if octet == UInt8(ascii: "&") {
                text += try reference()
            } else {
                text.append(octet)
                place += 1
            }
        }
        guard !open.isEmpty else { throw .refused(at: place) }
        return String(decoding: text, as: UTF8.self)
    }

    /// `&amp;`, `&#65;`, `&#x41;`: the five names XML has itself, and numbers of characters.
    private mutating func reference() throws(XMLFault) -> [UInt8] {
        let rest = octets[(place + 1)...].prefix(10)
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { throw .refused(at: place) }
        let name = String(decoding: rest[..<end], as: UTF8.self)
        guard let scalar = Self.named[name] ?? Self.numbered(name) else {
            throw .refused(at: place)
        }
        place = end + 1
        return Array(String(Character(scalar)).utf8)
    }

    private static let named: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
    ]

    private static func numbered(_ name: String) -> Unicode.Scalar? {
        guard name.hasPrefix("#") else { return nil }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let number = UInt32(digits, radix: isHexadecimal ? 16 : 10),
            number >= 0x20 || UInt8(exactly: number).map(isSpace) == true
        else { return nil }
        return Unicode.Scalar(number)
    }

    private static func isName(_ octet: UInt8, isFirst: Bool) -> Bool {
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "_"):
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: ":"):
            !isFirst
        default: false
        }
    }
}
