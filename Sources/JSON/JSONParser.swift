/// Validates a document in one pass and records the position of each value.
///
/// Recursive descent over the grammar of RFC 8259 §2–§6, with one function per rule.
struct JSONParser {
    private let bytes: [UInt8]
    private let limits: JSONLimits
    private var position = 0
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
        guard position == bytes.count else { throw error(.trailingBytes) }
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
            position += 1
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

    /// Consumes the comma before another element, or stops before the closing bracket.
    private mutating func endsAfterElement(_ bracket: UInt8) throws(JSONError) -> Bool {
        skipBlanks()
        let byte = try nextByte()
        if byte == bracket { return true }
        guard byte == UInt8(ascii: ",") else { throw unexpectedByte() }
        position += 1
        return false
    }

    private mutating func open(_ depth: Int) throws(JSONError) -> Int {
        guard depth <= limits.depth else { throw error(.tooDeep(limit: limits.depth)) }
        note(from: position, to: position)
        position += 1
        return nodes.count - 1
    }

    /// Consumes the closing bracket and completes the container's node.
    private mutating func close(_ container: Int, count: UInt32) {
        position += 1
        nodes[container].end = UInt32(position)
        nodes[container].next = UInt32(nodes.count)
        nodes[container].count = count
    }

    private mutating func parseWord(_ word: StaticString) throws(JSONError) {
        let start = position
        for letter in word.description.utf8 {
            guard try nextByte() == letter else { throw unexpectedByte() }
            position += 1
        }
        note(from: start, to: position)
    }

    private mutating func note(from start: Int, to end: Int, escapes: UInt32 = 0) {
        nodes.append(
            JSONNode(
                start: UInt32(start), end: UInt32(end), next: UInt32(nodes.count + 1),
                count: escapes))
    }

    /// The byte at the current position, which does not move.
    private func nextByte() throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        return bytes[position]
    }

    private mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private func error(_ reason: JSONError.Reason) -> JSONError {
        JSONError(offset: position, reason: reason)
    }

    /// The error for the byte at the current position, which must exist.
    private func unexpectedByte() -> JSONError { error(.unexpectedByte(bytes[position])) }

    /// Parses a string with its quotes (RFC 8259 §7) and validates escapes and UTF-8.
    private mutating func parseString() throws(JSONError) {
        let start = position
        var escapes: UInt32 = 0
        position += 1
        while true {
            position = endOfPlainASCII(in: bytes, from: position)
            switch try nextByte() {
            case UInt8(ascii: "\""):
                position += 1
                return note(from: start, to: position, escapes: escapes)
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
        let backslash = position
        position += 1
        guard try nextByte() == UInt8(ascii: "u") else {
            guard JSONEscape.character(after: bytes[position]) != nil else {
                throw JSONError(offset: backslash, reason: .invalidEscape)
            }
            position += 1
            return
        }
        position += 1
        let unit = try takeFourHexDigits(of: backslash)
        guard UTF16.isSurrogate(unit) else { return }
        guard UTF16.isLeadSurrogate(unit) else {
            throw JSONError(offset: backslash, reason: .loneSurrogate)
        }
        for expected in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
            guard try nextByte() == expected else {
                throw JSONError(offset: backslash, reason: .loneSurrogate)
            }
            position += 1
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
            position += 1
        }
        return unit
    }

    /// Consumes one scalar of two to four bytes, well-formed by Unicode table 3-7, which excludes
    /// overlong forms, surrogates and everything above U+10FFFF.
    private mutating func takeMultibyteScalar() throws(JSONError) {
        let second: ClosedRange<UInt8>
        let length: Int
        switch bytes[position] {
        case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: throw error(.invalidUTF8)
        }
        let start = position
        position += 1
        guard second.contains(try nextByte()) else {
            throw JSONError(offset: start, reason: .invalidUTF8)
        }
        position += 1
        while position < start + length {
            guard try nextByte() & 0xC0 == 0x80 else {
                throw JSONError(offset: start, reason: .invalidUTF8)
            }
            position += 1
        }
    }

    /// Parses `[ minus ] int [ frac ] [ exp ]` (RFC 8259 §6). The digits are converted only when
    /// the value is read.
    private mutating func parseNumber() throws(JSONError) {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if try nextByte() == UInt8(ascii: "0") {
            position += 1
            guard !isDigit(at: position) else { throw error(.invalidNumber) }
        } else {
            try takeDigits()
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try takeDigits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            let sign = try nextByte()
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try takeDigits()
        }
        guard position - start <= limits.numberLength else {
            throw JSONError(offset: start, reason: .numberTooLong(limit: limits.numberLength))
        }
        note(from: start, to: position)
    }

    /// Consumes one or more digits.
    private mutating func takeDigits() throws(JSONError) {
        _ = try nextByte()
        guard isDigit(at: position) else { throw error(.invalidNumber) }
        while isDigit(at: position) { position += 1 }
    }

    private func isDigit(at position: Int) -> Bool {
        position < bytes.count && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position])
    }

    /// Rejects an object in which a name occurs twice, however it is escaped.
    ///
    /// Parsers differ in which of two members they use (RFC 8259 §4), so one component could
    /// validate a member that another ignores. Names are equal when their UTF-8 is.
    private mutating func requireDistinctNames(in object: Int) throws(JSONError) {
        let count = Int(nodes[object].count)
        guard count > 1 else { return }
        // Few names are compared in pairs. For many names that is quadratic, so they are hashed;
        // the standard library seeds its hashes per process, so collisions cannot be prepared.
        if count <= 8 { try comparePairs(in: object) } else { try hashNames(in: object) }
    }

    private func comparePairs(in object: Int) throws(JSONError) {
        let end = Int(nodes[object].next)
        var later = Int(nodes[object + 2].next)
        while later < end {
            var earlier = object + 1
            while earlier < later {
                guard !haveEqualNames(nodes[earlier], nodes[later]) else {
                    throw duplicate(nodes[later])
                }
                earlier = Int(nodes[earlier + 1].next)
            }
            later = Int(nodes[later + 1].next)
        }
    }

    private func haveEqualNames(_ one: JSONNode, _ other: JSONNode) -> Bool {
        if one.hasEscapes || other.hasEscapes { return name(one) == name(other) }
        return one.content.count == other.content.count
            && bytes[one.content] == bytes[other.content]
    }

    private func hashNames(in object: Int) throws(JSONError) {
        var seen: Set<ArraySlice<UInt8>> = []
        seen.reserveCapacity(Int(nodes[object].count))
        var member = object + 1
        while member < Int(nodes[object].next) {
            guard seen.insert(name(nodes[member])).inserted else {
                throw duplicate(nodes[member])
            }
            member = Int(nodes[member + 1].next)
        }
    }

    private func name(_ node: JSONNode) -> ArraySlice<UInt8> {
        let text = bytes[node.content]
        return node.hasEscapes ? JSONEscape.unescaped(text)[...] : text
    }

    private func duplicate(_ name: JSONNode) -> JSONError {
        JSONError(offset: Int(name.start), reason: .duplicateName)
    }
}
