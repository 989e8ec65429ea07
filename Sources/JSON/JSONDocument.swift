/// One JSON text, read strictly as RFC 8259 and kept as bytes.
///
/// Making a document scans it once: grammar, UTF-8, escapes, limits and distinct names are checked
/// there, so everything asked afterwards cannot fail. No text is copied and no `String` is made
/// before ``JSONValue/string`` asks for one.
public struct JSONDocument: Sendable {
    let storage: JSONStorage

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: The whole text in UTF-8, without byte order mark.
    ///   - limits: Size, depth and number length above which the text is refused.
    /// - Throws: ``JSONError`` with the place of the first mistake.
    public init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var parser = JSONParser(bytes, limits: limits)
        try parser.parseDocument()
        storage = JSONStorage(bytes: bytes, nodes: parser.nodes)
    }

    /// The one value of the document.
    public var root: JSONValue { JSONValue(storage: storage, index: 0) }
}

/// The bytes of a document and the places of its values, shared by all cursors into it.
final class JSONStorage: Sendable {
    let bytes: [UInt8]
    let nodes: [JSONNode]

    init(bytes: [UInt8], nodes: [JSONNode]) {
        self.bytes = bytes
        self.nodes = nodes
    }
}

/// How much a document may ask of its reader.
public struct JSONLimits: Hashable, Sendable {
    /// The most bytes of a document; 16 MiB unless said otherwise.
    public let size: Int

    /// The deepest nesting of objects and arrays; 64 unless said otherwise, never above 512.
    public let depth: Int

    /// The most bytes of one number; 64 unless said otherwise.
    ///
    /// An `Int64` needs 20 bytes and a `Double` 24; the rest is for generous writers. Converting a
    /// number of a million digits is work a caller could make us do.
    public let numberLength: Int

    /// Makes limits; values beyond what the reader can hold are brought down to it.
    public init(size: Int = 16 << 20, depth: Int = 64, numberLength: Int = 64) {
        // Nodes count bytes in 32 bits.
        self.size = min(max(size, 0), Int(Int32.max))
        // The reader calls itself once a level: the stack of a worker thread bounds it.
        self.depth = min(max(depth, 0), 512)
        self.numberLength = max(numberLength, 1)
    }
}

/// Where one value, or the name of a member, lies in the bytes of a document.
///
/// Nodes stand in the order of the text: a container is followed by all it holds, and the members of
/// an object are name, value, name, value. What kind a node is, its first byte tells.
struct JSONNode {
    /// The first byte, quotes and brackets included.
    let start: UInt32
    /// The byte after the last.
    var end: UInt32
    /// The node after this one and all it holds.
    var next: UInt32
    /// Members of an object, elements of an array, escapes in a string.
    var count: UInt32

    var range: Range<Int> { Int(start)..<Int(end) }

    /// A string without its quotes.
    var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }

    /// Whether a string differs from the bytes between its quotes.
    var hasEscapes: Bool { count > 0 }
}
