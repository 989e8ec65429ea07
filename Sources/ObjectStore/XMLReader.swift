internal import HTTP

/// Reads the few XML documents that an object store sends.
///
/// It supports elements, text, character references and skips attributes. Features that stores do
/// not need and attackers use are rejected: document types and their entities, comments, CDATA,
/// processing instructions, control characters, more than sixteen nested elements, and names above
/// 64 bytes. The caller limits the document's length.
struct XMLReader {
    private enum Event {
        case begin(String)
        case text(String)
        case end
    }

    private let bytes: [UInt8]
    private var place = 0
    private var open: [String] = []
    private var hasRoot = false
    /// Whether the end of an element `<Name/>` is still to be reported.
    private var hasPendingEnd = false

    private static let maximumDepth = 16
    private static let maximumNameLength = 64

    /// Reads a whole document, which may begin with white space: stores send it to keep a
    /// connection open while they work (§10.3).
    init(_ bytes: [UInt8]) throws(XMLError) {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .notText }
        guard !bytes.contains(where: { $0 < 0x20 && !Self.isSpace($0) }) else { throw .notText }
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        skipWhitespace()
        if take("<?xml") {
            guard let first = current, Self.isSpace(first) else { throw .refused(at: place) }
            while !take("?>") {
                guard let byte = current, byte != UInt8(ascii: "<") else {
                    throw .refused(at: place)
                }
                place += 1
            }
        }
    }

    /// Enters the root element and returns its name.
    mutating func root() throws(XMLError) -> String {
        skipWhitespace()
        guard case .begin(let name)? = try next() else { throw .refused(at: place) }
        return name
    }

    /// Enters the next child of the current element and returns its name; at the end leaves the
    /// element and returns `nil`. Text between elements is skipped.
    mutating func child() throws(XMLError) -> String? {
        while let event = try next() {
            switch event {
            case .begin(let name): return name
            case .end: return nil
            case .text: continue
            }
        }
        throw .truncated
    }

    /// Reads the text of the current element, which has no children, and leaves the element.
    mutating func text() throws(XMLError) -> String {
        var whole = ""
        while let event = try next() {
            switch event {
            case .begin: throw .refused(at: place)
            case .end: return whole
            case .text(let text): whole += text
            }
        }
        throw .truncated
    }

    /// Leaves the current element, whatever it contains.
    mutating func skip() throws(XMLError) {
        let outside = open.count - 1
        while open.count > outside || hasPendingEnd {
            guard try next() != nil else { throw .truncated }
        }
    }

    /// Checks that only white space follows the root element.
    mutating func finish() throws(XMLError) {
        skipWhitespace()
        guard open.isEmpty, !hasPendingEnd, place == bytes.count else { throw .refused(at: place) }
    }

    /// The next event; `nil` at the end of the document.
    private mutating func next() throws(XMLError) -> Event? {
        if hasPendingEnd {
            hasPendingEnd = false
            open.removeLast()
            return .end
        }
        guard let byte = current else { return nil }
        guard byte == UInt8(ascii: "<") else { return .text(try characters()) }
        place += 1
        if take("/") {
            let name = try name()
            skipWhitespace()
            guard take(">"), name == open.popLast() else { throw .refused(at: place) }
            return .end
        }
        return try begin()
    }

    private var current: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[place...].starts(with: text.utf8) else { return false }
        place += text.utf8.count
        return true
    }

    private mutating func skipWhitespace() {
        while let byte = current, Self.isSpace(byte) { place += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D].contains(byte)
    }

    /// Reads `<Name attribute="…">`, after its `<`.
    private mutating func begin() throws(XMLError) -> Event {
        guard open.count < Self.maximumDepth, !open.isEmpty || !hasRoot else {
            throw .refused(at: place)
        }
        hasRoot = true
        let name = try name()
        open.append(name)
        while true {
            let before = place
            skipWhitespace()
            if take(">") { return .begin(name) }
            if take("/>") {
                hasPendingEnd = true
                return .begin(name)
            }
            guard place > before else { throw .refused(at: place) }
            try skipAttribute()
        }
    }

    private mutating func skipAttribute() throws(XMLError) {
        _ = try name()
        skipWhitespace()
        guard take("=") else { throw .refused(at: place) }
        skipWhitespace()
        guard let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw .refused(at: place)
        }
        place += 1
        while let byte = current, byte != quote {
            guard byte != UInt8(ascii: "<") else { throw .refused(at: place) }
            place += 1
        }
        guard current != nil else { throw .truncated }
        place += 1
    }

    private mutating func name() throws(XMLError) -> String {
        let start = place
        while let byte = current, Self.isName(byte, isFirst: place == start) { place += 1 }
        guard place < bytes.count else { throw .truncated }
        guard (1...Self.maximumNameLength).contains(place - start) else {
            throw .refused(at: place)
        }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    /// Reads text up to the next `<`.
    private mutating func characters() throws(XMLError) -> String {
        var text: [UInt8] = []
        while let byte = current, byte != UInt8(ascii: "<") {
            if byte == UInt8(ascii: "&") {
                text += try reference()
            } else {
                text.append(byte)
                place += 1
            }
        }
        guard !open.isEmpty else { throw .refused(at: place) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads `&amp;`, `&#65;` or `&#x41;`: XML's five predefined entities, and character numbers.
    private mutating func reference() throws(XMLError) -> [UInt8] {
        let rest = bytes[(place + 1)...].prefix(10)
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

    private static func isName(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "_"):
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: ":"):
            !isFirst
        default: false
        }
    }

    /// The text of one element in the response to an operation.
    ///
    /// - Throws: ``XMLError/meaningless(_:)`` for the response to another operation, and if the
    ///   element is missing or empty.
    static func member(
        _ wanted: String, of operation: String, _ bytes: [UInt8]
    ) throws(XMLError) -> String {
        var reader = try XMLReader(bytes)
        try reader.enter(operation)
        var member = ""
        while let name = try reader.child() {
            if name == wanted {
                member = try reader.text()
            } else {
                try reader.skip()
            }
        }
        try reader.finish()
        guard !member.isEmpty else { throw .meaningless("it has no \(wanted)") }
        return member
    }

    /// Enters the root element of an operation's response: S3 names it `…Result`, a few stores
    /// `…Response`.
    mutating func enter(_ operation: String) throws(XMLError) {
        guard ["\(operation)Result", "\(operation)Response"].contains(try root()) else {
            throw .meaningless("it is no \(operation)Result")
        }
    }

    /// Reads the current element's text as a number from 0 on.
    mutating func number() throws(XMLError) -> Int64 {
        let text = try text()
        guard let number = Int64(decimal: text.utf8) else {
            throw .meaningless("something there is no number")
        }
        return number
    }

    /// Reads the current element's text as a boolean.
    mutating func boolean() throws(XMLError) -> Bool {
        switch try text() {
        case "true": true
        case "false": false
        default: throw .meaningless("something there is neither true nor false")
        }
    }
}

/// Why a document cannot be read.
enum XMLError: Error, Equatable {
    /// Invalid UTF-8 or control characters.
    case notText
    /// The document ends early.
    case truncated
    /// Invalid XML, or XML that is not supported.
    case refused(at: Int)
    /// Valid XML with unexpected content.
    case meaningless(String)
}
