/// An entity tag: names the bytes of one representation, and no other's (RFC 9110 §8.8.3, H102).
public struct EntityTag: Equatable, Sendable {
    /// What stands between the quotes, byte by byte as it came.
    public let opaque: String
    /// Whether it only promises the same meaning, not the same bytes.
    public let isWeak: Bool

    /// Makes a tag.
    ///
    /// - Parameter opaque: Visible ASCII without quotes, made so that another content has another.
    public init(opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Reads one tag and nothing beside it.
    public init?(_ text: String) {
        var reader = TagReader(text)
        guard let tag = reader.tag(), reader.isAtEnd else { return nil }
        self = tag
    }

    /// The value of an `ETag` field.
    public var text: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

    /// The tag of the same thing under a content coding: its bytes are others (H102).
    public func coded(_ name: String) -> EntityTag {
        EntityTag(opaque: "\(opaque)-\(name)", isWeak: isWeak)
    }

    /// The same bytes, by both their words (RFC 9110 §8.8.3.2).
    public func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque.utf8.elementsEqual(other.opaque.utf8)
    }

    /// Good enough for a cache.
    public func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }

    /// Reads a list as far as it is one; commas may stand inside a tag.
    static func list(_ text: String) -> [EntityTag] { read(text).tags }

    /// Whether a text is a list of tags from its first byte to its last, of one tag at least.
    static func isList(_ text: String) -> Bool {
        let (tags, isWhole) = read(text)
        return isWhole && !tags.isEmpty
    }

    /// More than 16 empty elements or 256 tags end a list (H30, H57).
    private static func read(_ text: String) -> (tags: [EntityTag], isWhole: Bool) {
        var reader = TagReader(text)
        var tags: [EntityTag] = []
        var empty = 0
        while tags.count < 256, empty <= 16 {
            reader.skipBlanks()
            if reader.take(UInt8(ascii: ",")) {
                empty += 1
                continue
            }
            guard let tag = reader.tag() else { return (tags, reader.isAtEnd) }
            tags.append(tag)
            reader.skipBlanks()
            guard reader.take(UInt8(ascii: ",")) else { return (tags, reader.isAtEnd) }
        }
        return (tags, reader.isAtEnd)
    }
}

/// Walks over the text of a field that holds entity tags.
private struct TagReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skipBlanks() { rest = rest.drop { byte in byte == .sp || byte == .htab } }

    mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// `[W/] DQUOTE *etagc DQUOTE`: no escapes, no blanks (RFC 9110 §8.8.3).
    mutating func tag() -> EntityTag? {
        let isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest = rest.dropFirst(2) }
        guard take(UInt8(ascii: "\"")) else { return nil }
        let opaque = rest.prefix { byte in byte > 0x20 && byte != 0x22 && byte != 0x7F }
        rest = rest.dropFirst(opaque.count)
        guard take(UInt8(ascii: "\"")) else { return nil }
        return EntityTag(opaque: String(Substring(opaque)), isWeak: isWeak)
    }
}
