/// An entity tag, which identifies the bytes of one representation (RFC 9110 §8.8.3, H102).
public struct EntityTag: Equatable, Sendable {
    /// The text between the quotes, unchanged.
    let opaque: String
    /// Whether equal tags promise only equivalent content, not equal bytes.
    public let isWeak: Bool

    /// Makes a tag.
    ///
    /// - Parameter opaque: Visible ASCII without quotes, different for different content.
    public init(opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Parses a single tag; `nil` for anything else.
    public init?(_ text: String) {
        var reader = TagReader(text)
        guard let tag = reader.tag(), reader.isAtEnd else { return nil }
        self = tag
    }

    /// The value of an `ETag` field.
    public var text: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

    /// The tag of the same representation under a content coding, whose bytes differ (H102).
    public func coded(_ name: String) -> EntityTag {
        EntityTag(opaque: "\(opaque)-\(name)", isWeak: isWeak)
    }

    /// Strong comparison: both tags are strong and equal (RFC 9110 §8.8.3.2).
    public func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque.utf8.elementsEqual(other.opaque.utf8)
    }

    /// Weak comparison: the tags are equal; sufficient for caches.
    public func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }

    /// Parses a list up to the first error; tags may contain commas.
    static func list(_ text: String) -> [EntityTag] { read(text).tags }

    /// Whether the whole text is a list of at least one tag.
    static func isList(_ text: String) -> Bool {
        let (tags, isWhole) = read(text)
        return isWhole && !tags.isEmpty
    }

    /// A list ends after 16 empty elements or 256 tags (H30, H57).
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

/// A parser of entity tags.
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

    /// Parses `[W/] DQUOTE *etagc DQUOTE`: no escapes, no blanks (RFC 9110 §8.8.3).
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
