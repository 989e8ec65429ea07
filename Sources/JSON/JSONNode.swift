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
