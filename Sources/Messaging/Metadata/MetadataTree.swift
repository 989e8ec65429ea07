/// Metadata as a client writes and sees it: text, or an object of named trees (R40).
///
/// Two trees are equal when they hold the same keys and the same bytes, whatever the order of keys.
public indirect enum MetadataTree: Sendable {
    case text(String)
    case object([Member])

    /// One key of an object and what it holds.
    public struct Member: Sendable {
        /// The key; legal ones are made of `A–Z a–z 0–9 - _` (R41).
        public let key: String
        /// What the key holds.
        public let value: MetadataTree

        /// A member of an object.
        public init(key: String, value: MetadataTree) {
            self.key = key
            self.value = value
        }
    }

    /// An object without members.
    public static let empty = MetadataTree.object([])

    /// The tree under a key; `nil` when this is text or lacks the key.
    public subscript(_ key: String) -> MetadataTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { member in member.key.utf8.elementsEqual(key.utf8) }?.value
    }
}

extension MetadataTree: Equatable {
    /// Deep equality: same keys, same bytes (R7).
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)):
            left.utf8.elementsEqual(right.utf8)
        case (.object(let left), .object(let right)):
            left.count == right.count
                && zip(sorted(left), sorted(right)).allSatisfy { left, right in
                    left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
                }
        case (.text, .object), (.object, .text):
            false
        }
    }

    private static func sorted(_ members: [Member]) -> [Member] {
        members.sorted { left, right in
            left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
        }
    }
}

extension MetadataTree: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    /// Text.
    public init(stringLiteral text: String) {
        self = .text(text)
    }

    /// An object with members in the order written.
    public init(dictionaryLiteral elements: (String, MetadataTree)...) {
        self = .object(elements.map { key, value in Member(key: key, value: value) })
    }
}
