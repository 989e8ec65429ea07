/// One value of a document: a cursor, as cheap to pass as a reference.
///
/// A value keeps its whole document alive.
public struct JSONValue: Sendable {
    let storage: JSONStorage
    let index: Int

    /// What a value can be.
    public enum Kind: Hashable, Sendable {
        case object, array, string, number, bool, null
    }

    var node: JSONNode { storage.nodes[index] }

    /// What this value is.
    public var kind: Kind {
        switch storage.bytes[Int(node.start)] {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    /// Whether this value is `null`.
    public var isNull: Bool { kind == .null }

    /// The bytes of this value as they stand in the document, quotes and brackets included.
    public var raw: ArraySlice<UInt8> { storage.bytes[node.range] }

    /// Where this value begins in the document, in bytes.
    public var offset: Int { Int(node.start) }
}

extension JSONValue {
    /// The text of a string; `nil` for every other kind.
    public var string: String? {
        guard kind == .string else { return nil }
        return text(of: node)
    }

    /// The text of a string in UTF-8, without making a `String`; `nil` for every other kind.
    ///
    /// Shares the document's memory unless the string holds escapes.
    public var utf8: ArraySlice<UInt8>? {
        guard kind == .string else { return nil }
        let text = storage.bytes[node.content]
        return node.hasEscapes ? JSONEscape.unescaped(text)[...] : text
    }

    /// The truth of `true` and `false`; `nil` for every other kind.
    public var bool: Bool? {
        guard kind == .bool else { return nil }
        return storage.bytes[Int(node.start)] == UInt8(ascii: "t")
    }

    /// A number written without fraction and exponent that fits 64 bits; `nil` for everything else.
    public var integer: Int64? {
        guard kind == .number else { return nil }
        // `Int64(_:)` would also take "+5", which the grammar has refused already.
        return Int64(String(decoding: raw, as: UTF8.self))
    }

    /// A number, rounded to the nearest double; `nil` for other kinds and when it is out of range.
    public var double: Double? {
        guard kind == .number else { return nil }
        let number = Double(String(decoding: raw, as: UTF8.self))
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    func text(of node: JSONNode) -> String {
        let text = storage.bytes[node.content]
        guard node.hasEscapes else { return String(decoding: text, as: UTF8.self) }
        return String(decoding: JSONEscape.unescaped(text), as: UTF8.self)
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as it stands in the document.
    public var description: String { String(decoding: raw, as: UTF8.self) }
}

extension JSONValue {
    /// How many members an object or elements an array has; 0 for every other kind.
    public var count: Int {
        switch kind {
        case .object, .array: Int(node.count)
        default: 0
        }
    }

    /// The member of an object by its name; `nil` when it has none, and for every other kind.
    ///
    /// Names are compared byte by byte in UTF-8, so two ways to compose one letter are two names. The
    /// members are looked at in turn: ask a large object for its ``members`` instead.
    public subscript(_ name: String) -> JSONValue? {
        guard kind == .object else { return nil }
        var member = index + 1
        let end = Int(node.next)
        while member < end {
            if isName(storage.nodes[member], equalTo: name) {
                return JSONValue(storage: storage, index: member + 1)
            }
            member = Int(storage.nodes[member + 1].next)
        }
        return nil
    }

    /// The members of an object in the order of the text; empty for every other kind.
    public var members: JSONMembers { JSONMembers(of: self) }

    /// The elements of an array; empty for every other kind.
    public var elements: JSONElements { JSONElements(of: self) }

    private func isName(_ node: JSONNode, equalTo name: String) -> Bool {
        let text = storage.bytes[node.content]
        guard !node.hasEscapes else { return name.utf8.elementsEqual(JSONEscape.unescaped(text)) }
        return text.count == name.utf8.count && name.utf8.elementsEqual(text)
    }
}

/// The members of an object in the order of the text.
public struct JSONMembers: Sequence, IteratorProtocol, Sendable {
    private let storage: JSONStorage
    private var place: Int
    private let end: Int

    init(of object: JSONValue) {
        storage = object.storage
        place = object.index + 1
        end = object.kind == .object ? Int(object.node.next) : place
    }

    /// The next member; `nil` after the last.
    public mutating func next() -> (key: String, value: JSONValue)? {
        guard place < end else { return nil }
        let value = JSONValue(storage: storage, index: place + 1)
        let name = value.text(of: storage.nodes[place])
        place = Int(value.node.next)
        return (name, value)
    }
}

/// The elements of an array.
public struct JSONElements: Sequence, IteratorProtocol, Sendable {
    private let storage: JSONStorage
    private var place: Int
    private let end: Int

    init(of array: JSONValue) {
        storage = array.storage
        place = array.index + 1
        end = array.kind == .array ? Int(array.node.next) : place
    }

    /// The next element; `nil` after the last.
    public mutating func next() -> JSONValue? {
        guard place < end else { return nil }
        let value = JSONValue(storage: storage, index: place)
        place = Int(value.node.next)
        return value
    }
}
