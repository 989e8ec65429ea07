/// Checks a document in one pass and notes where its values lie.
///
/// The grammar of RFC 8259 §2–§6, one function a rule; strings are in `JSONParser+String.swift`.
struct JSONParser {
    let bytes: [UInt8]
    let limits: JSONLimits
    var place = 0
    private(set) var nodes: [JSONNode] = []

    init(_ bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func parseDocument() throws(JSONError) {
        guard bytes.count <= limits.size else {
            throw JSONError(offset: limits.size, reason: .tooLarge(limit: limits.size))
        }
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else { throw error(.byteOrderMark) }
        nodes.reserveCapacity(min(bytes.count / 16 + 4, 4096))
        try parseValue(depth: 0)
        skipBlanks()
        guard place == bytes.count else { throw error(.trailingBytes) }
    }

    private mutating func parseValue(depth: Int) throws(JSONError) {
        skipBlanks()
        switch try nextByte() {
        case UInt8(ascii: "{"): try parseObject(depth: depth + 1)
        case UInt8(ascii: "["): try parseArray(depth: depth + 1)
        case UInt8(ascii: "\""): try parseString()
        case UInt8(ascii: "t"): try parseWord("true")
        case UInt8(ascii: "f"): try parseWord("false")
        case UInt8(ascii: "n"): try parseWord("null")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try parseNumber()
        case let byte: throw error(.unexpectedByte(byte))
        }
    }

    private mutating func parseObject(depth: Int) throws(JSONError) {
        let object = try open(depth)
        skipBlanks()
        if try nextByte() == UInt8(ascii: "}") { return close(object, count: 0) }
        var count: UInt32 = 0
        while true {
            skipBlanks()
            guard try nextByte() == UInt8(ascii: "\"") else { throw unexpectedByte() }
            try parseString()
            skipBlanks()
            guard try nextByte() == UInt8(ascii: ":") else { throw unexpectedByte() }
            place += 1
            try parseValue(depth: depth)
            count += 1
            if try endsAfterElement(UInt8(ascii: "}")) { break }
        }
        close(object, count: count)
        try requireDistinctNames(in: object)
    }

    private mutating func parseArray(depth: Int) throws(JSONError) {
        let array = try open(depth)
        skipBlanks()
        if try nextByte() == UInt8(ascii: "]") { return close(array, count: 0) }
        var count: UInt32 = 0
        repeat {
            try parseValue(depth: depth)
            count += 1
        } while try !endsAfterElement(UInt8(ascii: "]"))
        close(array, count: count)
    }

    /// Takes the comma before a further element, or stops before the closing bracket.
    private mutating func endsAfterElement(_ bracket: UInt8) throws(JSONError) -> Bool {
        skipBlanks()
        let byte = try nextByte()
        if byte == bracket { return true }
        guard byte == UInt8(ascii: ",") else { throw unexpectedByte() }
        place += 1
        return false
    }

    private mutating func open(_ depth: Int) throws(JSONError) -> Int {
        guard depth <= limits.depth else { throw error(.tooDeep(limit: limits.depth)) }
        note(from: place, to: place)
        place += 1
        return nodes.count - 1
    }

    /// Takes the closing bracket.
    private mutating func close(_ container: Int, count: UInt32) {
        place += 1
        nodes[container].end = UInt32(place)
        nodes[container].next = UInt32(nodes.count)
        nodes[container].count = count
    }

    private mutating func parseWord(_ word: StaticString) throws(JSONError) {
        let start = place
        for letter in word.description.utf8 {
            guard try nextByte() == letter else { throw unexpectedByte() }
            place += 1
        }
        note(from: start, to: place)
    }

    mutating func note(from start: Int, to end: Int, escapes: UInt32 = 0) {
        nodes.append(
            JSONNode(
                start: UInt32(start), end: UInt32(end), next: UInt32(nodes.count + 1),
                count: escapes))
    }
}

extension JSONParser {
    /// The byte at the place, which stays where it is.
    func nextByte() throws(JSONError) -> UInt8 {
        guard place < bytes.count else { throw error(.unexpectedEnd) }
        return bytes[place]
    }

    mutating func skipBlanks() {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x0A, 0x0D, 0x09: place += 1
            default: return
            }
        }
    }

    func error(_ reason: JSONError.Reason) -> JSONError {
        JSONError(offset: place, reason: reason)
    }

    /// For a place that is known to hold a byte.
    private func unexpectedByte() -> JSONError { error(.unexpectedByte(bytes[place])) }
}
