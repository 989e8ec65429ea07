/// A JSON text, validated strictly by RFC 8259 and kept as bytes.
///
/// The initializer scans it once and checks grammar, UTF-8, escapes, limits and distinct names, so
/// later access cannot fail. Text is not copied, and no `String` is made before
/// ``JSONValue/string`` asks for one.
public struct JSONDocument: Sendable {
    let storage: JSONStorage

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: The whole text in UTF-8, without byte order mark.
    ///   - limits: Size, depth and number length above which the text is rejected.
    /// - Throws: ``JSONError`` with the offset of the first error.
    public init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var parser = JSONParser(bytes, limits: limits)
        try parser.parseDocument()
        storage = JSONStorage(bytes: bytes, nodes: parser.nodes)
    }

    /// The single value of the document.
    public var root: JSONValue { JSONValue(storage: storage, index: 0) }
}

/// The bytes of a document and the positions of its values, shared by all ``JSONValue``s of it.
final class JSONStorage: Sendable {
    let bytes: [UInt8]
    let nodes: [JSONNode]

    init(bytes: [UInt8], nodes: [JSONNode]) {
        self.bytes = bytes
        self.nodes = nodes
    }
}

/// Limits for a document that is read.
public struct JSONLimits: Hashable, Sendable {
    /// The most bytes of a document; 16 MiB by default.
    public let size: Int

    /// The deepest nesting of objects and arrays; 64 by default, at most 512.
    public let depth: Int

    /// The most bytes of one number; 64 by default.
    ///
    /// An `Int64` needs 20 bytes and a `Double` 24. The limit exists because converting a number of
    /// a million digits is expensive.
    public let numberLength: Int

    /// Makes limits; values above what the parser supports are reduced to that.
    public init(size: Int = 16 << 20, depth: Int = 64, numberLength: Int = 64) {
        // Nodes store byte offsets in 32 bits.
        self.size = min(max(size, 0), Int(Int32.max))
        // The parser recurses once per level, so the stack of a worker thread bounds the depth.
        self.depth = min(max(depth, 0), 512)
        self.numberLength = max(numberLength, 1)
    }
}

/// The position of one value, or of the name of a member, in the bytes of a document.
///
/// Nodes are in the order of the text: a container is followed by everything in it, and the members
/// of an object are name, value, name, value. The first byte of a node gives its kind.
struct JSONNode {
    /// The offset of the first byte, including the quote or bracket.
    let start: UInt32
    /// The offset after the last byte.
    var end: UInt32
    /// The index of the node that follows this one and everything in it.
    var next: UInt32
    /// Members of an object, elements of an array, or escapes in a string.
    var count: UInt32

    var range: Range<Int> { Int(start)..<Int(end) }

    /// The range of a string without its quotes.
    var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }

    /// Whether a string has escapes, so that its text differs from its bytes.
    var hasEscapes: Bool { count > 0 }
}
