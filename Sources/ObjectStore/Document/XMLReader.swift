/// Walks over one of the few XML documents a store sends, from its first element to its last.
///
/// It knows elements, text, character references and attributes, which it passes over. What no store
/// needs and attackers like is refused: document types and so entities of one's own, comments, CDATA,
/// processing instructions, control characters, elements nested deeper than sixteen, names beyond 64
/// octets. How long a document may be is for the one to say who receives it.
struct XMLReader {
    enum Event {
        case begin(String)
        case text(String)
        case end
    }

    let octets: [UInt8]
    var place = 0
    var open: [String] = []
    var hasRoot = false
    /// Whether the last element was `<This/>`, whose end is still to be told.
    var isEndDue = false

    static let deepest = 16
    static let longestName = 64

    /// Takes a whole document, which may begin with white space: stores send it to keep a connection
    /// alive while they work (§10.3).
    init(_ octets: [UInt8]) throws(XMLFault) {
        guard String(validating: octets, as: UTF8.self) != nil else { throw .notText }
        guard !octets.contains(where: { $0 < 0x20 && !Self.isSpace($0) }) else { throw .notText }
        self.octets = octets
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        passSpace()
        if take("<?xml") {
            guard let first = current, Self.isSpace(first) else { throw .refused(at: place) }
            while !take("?>") {
                guard let octet = current, octet != UInt8(ascii: "<") else {
                    throw .refused(at: place)
                }
                place += 1
            }
        }
    }

    /// Goes into the first element; its name.
    mutating func root() throws(XMLFault) -> String {
        passSpace()
        guard case .begin(let name)? = try next() else { throw .refused(at: place) }
        return name
    }

    /// Goes into the next element of the one we are in; its name, or `nil` when that one ended, which
    /// we are out of then. Text between elements is passed over.
    mutating func child() throws(XMLFault) -> String? {
        while let event = try next() {
            switch event {
            case .begin(let name): return name
            case .end: return nil
            case .text: continue
            }
        }
        throw .truncated
    }

    /// The text of the element we are in, which holds nothing else, and out of it.
    mutating func text() throws(XMLFault) -> String {
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

    /// Out of the element we are in, whatever it holds.
    mutating func pass() throws(XMLFault) {
        let outside = open.count - 1
        while open.count > outside || isEndDue {
            guard try next() != nil else { throw .truncated }
        }
    }

    /// Nothing but white space may follow the first element.
    mutating func finish() throws(XMLFault) {
        passSpace()
        guard open.isEmpty, !isEndDue, place == octets.count else { throw .refused(at: place) }
    }

    /// What comes next; `nil` at the end of the octets.
    private mutating func next() throws(XMLFault) -> Event? {
        if isEndDue {
            isEndDue = false
            open.removeLast()
            return .end
        }
        guard let octet = current else { return nil }
        guard octet == UInt8(ascii: "<") else { return .text(try characters()) }
        place += 1
        if take("/") {
            let name = try name()
            passSpace()
            guard take(">"), name == open.popLast() else { throw .refused(at: place) }
            return .end
        }
        return try begin()
    }

    var current: UInt8? { place < octets.count ? octets[place] : nil }

    mutating func take(_ text: String) -> Bool {
        guard octets[place...].starts(with: text.utf8) else { return false }
        place += text.utf8.count
        return true
    }

    mutating func passSpace() {
        while let octet = current, Self.isSpace(octet) { place += 1 }
    }

    static func isSpace(_ octet: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D].contains(octet)
    }
}
