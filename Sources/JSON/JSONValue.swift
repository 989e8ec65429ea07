/// One value of a document: a cursor that is as cheap to copy as a reference.
///
/// A value keeps its whole document in memory.
public struct JSONValue: Sendable {
    let storage: JSONStorage
    let index: Int

    /// The types of values.
    public enum Kind: Hashable, Sendable {
        case object, array, string, number, bool, null
    }

    var node: JSONNode { storage.nodes[index] }

    /// The type of this value.
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

    /// The bytes of this value in the document, including quotes and brackets.
    public var raw: ArraySlice<UInt8> { storage.bytes[node.range] }

    /// The offset of this value in the document, in bytes.
    public var offset: Int { Int(node.start) }

    /// The text of a string; `nil` for other types.
    public var string: String? {
        guard kind == .string else { return nil }
        return text(of: node)
    }

    /// The text of a string in UTF-8, without making a `String`; `nil` for other types.
    ///
    /// Shares the document's memory unless the string has escapes.
    public var utf8: ArraySlice<UInt8>? {
        guard kind == .string else { return nil }
        let text = storage.bytes[node.content]
        return node.hasEscapes ? JSONEscape.unescaped(text)[...] : text
    }

    /// The value of `true` or `false`; `nil` for other types.
    public var bool: Bool? {
        guard kind == .bool else { return nil }
        return storage.bytes[Int(node.start)] == UInt8(ascii: "t")
    }

    /// A number without fraction and exponent that fits 64 bits; `nil` for anything else.
    public var integer: Int64? {
        guard kind == .number else { return nil }
        // `Int64(_:)` also accepts "+5", which the parser has already rejected.
        return Int64(String(decoding: raw, as: UTF8.self))
    }

    /// A number rounded to the nearest double; `nil` for other types and when it is out of range.
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
    /// The bytes of this value in the document as text.
    public var description: String { String(decoding: raw, as: UTF8.self) }

    /// The number of members of an object or elements of an array; 0 for other types.
    public var count: Int {
        switch kind {
        case .object, .array: Int(node.count)
        default: 0
        }
    }

    /// The value of a member of an object by its name; `nil` when there is none, and for other
    /// types.
    ///
    /// Names are compared byte by byte in UTF-8, so canonically equivalent names differ. The search
    /// is linear; for large objects iterate over ``members``.
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

    /// The members of an object in the order of the text; empty for other types.
    public var members: JSONMembers { JSONMembers(of: self) }

    /// The elements of an array; empty for other types.
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
    private var position: Int
    private let end: Int

    init(of object: JSONValue) {
        storage = object.storage
        position = object.index + 1
        end = object.kind == .object ? Int(object.node.next) : position
    }

    /// The next member; `nil` after the last.
    public mutating func next() -> (key: String, value: JSONValue)? {
        guard position < end else { return nil }
        let value = JSONValue(storage: storage, index: position + 1)
        let name = value.text(of: storage.nodes[position])
        position = Int(value.node.next)
        return (name, value)
    }
}

/// The elements of an array.
public struct JSONElements: Sequence, IteratorProtocol, Sendable {
    private let storage: JSONStorage
    private var position: Int
    private let end: Int

    init(of array: JSONValue) {
        storage = array.storage
        position = array.index + 1
        end = array.kind == .array ? Int(array.node.next) : position
    }

    /// The next element; `nil` after the last.
    public mutating func next() -> JSONValue? {
        guard position < end else { return nil }
        let value = JSONValue(storage: storage, index: position)
        position = Int(value.node.next)
        return value
    }
}
