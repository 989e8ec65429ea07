/// An entity tag (RFC 9110 §8.8.3).
struct EntityTag: Equatable, Sendable {
    let opaque: String
    let isWeak: Bool

    /// The same bytes, by both their words.
    func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque.utf8.elementsEqual(other.opaque.utf8)
    }

    /// Good enough for a cache.
    func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }

    /// Reads one tag and nothing beside it.
    init?(_ text: String) {
        let tags = EntityTag.list(text)
        guard let tag = tags.first, tags.count == 1, !text.contains(",") else { return nil }
        self = tag
    }

    init(opaque: String, isWeak: Bool) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Reads a list as far as it is one; commas may stand inside a tag.
    static func list(_ text: String) -> [EntityTag] {
        var tags: [EntityTag] = []
        var rest = Substring(text)
        while true {
            rest = rest.drop { " \t,".contains($0) }
            let isWeak = rest.hasPrefix("W/")
            if isWeak { rest = rest.dropFirst(2) }
            guard rest.first == "\"" else { return tags }
            rest = rest.dropFirst()
            guard let end = rest.firstIndex(of: "\"") else { return tags }
            tags.append(EntityTag(opaque: String(rest[..<end]), isWeak: isWeak))
            rest = rest[rest.index(after: end)...].trimmed
            guard rest.isEmpty || rest.first == "," else { return tags }
        }
    }
}
