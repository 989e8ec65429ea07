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
