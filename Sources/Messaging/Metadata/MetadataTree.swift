/// Metadata as a client writes and sees it: text, or an object of named trees (R40).
///
/// Two trees are equal when they hold the same keys and the same bytes, whatever the order of keys.
public indirect enum MetadataTree: Sendable {
    case text(String)
    case object([Member])

    /// A key of an object with its value.
    public struct Member: Sendable {
        /// The key; a legal key consists of `A–Z a–z 0–9 - _` (R41).
        public let key: String
        /// The value.
        public let value: MetadataTree

        /// A member of an object.
        public init(key: String, value: MetadataTree) {
            self.key = key
            self.value = value
        }
    }

    /// An object without members.
    public static let empty = MetadataTree.object([])

    /// The tree under a key; `nil` if this is text or does not have the key.
    public subscript(_ key: String) -> MetadataTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { member in member.key.utf8.elementsEqual(key.utf8) }?.value
    }
}

extension MetadataTree: Equatable {
    /// Whether both have the same keys and the same bytes, at every level (R7).
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
    /// Creates a text.
    public init(stringLiteral text: String) {
        self = .text(text)
    }

    /// Creates an object with its members in the order written.
    public init(dictionaryLiteral elements: (String, MetadataTree)...) {
        self = .object(elements.map { key, value in Member(key: key, value: value) })
    }
}

/// The limits of metadata (R40–R42, ruling 8).
public enum MetadataLimits {
    /// The maximum number of bytes of UTF-8 in one text.
    public static let bytesInText = 2048
    /// The maximum number of levels of objects below the root.
    public static let depth = 32
    /// The maximum number of bytes of the whole tree as compact JSON.
    public static let bytesInTree = 256 * 1024
    /// The maximum number of stored deletions.
    static let deletions = 1000
}

extension MetadataTree {
    /// Checks the keys, texts and depth, but not the total size.
    ///
    /// - Parameters:
    ///   - property: The property that a rejection names.
    ///   - level: The number of objects above this tree; 0 for the root.
    /// - Throws: `invalid(property)` with the first broken rule.
    public func check(as property: String, level: Int = 0) throws(Rejection) {
        guard let problem = problem(at: level) else { return }
        let path = ([property] + problem.keys.reversed()).joined(separator: ".")
        throw .invalid(
            property, problem.rule, .init(path: path, amount: problem.size, text: problem.key))
    }

    /// A broken rule, with the keys that lead to the value, the innermost first.
    ///
    /// The keys are collected when an error returns: joining a path at each level would copy long keys for each member.
    private struct Problem {
        let rule: ValidationRule
        var size: Int?
        var key: String?
        var keys: [String] = []
    }

    private func problem(at level: Int) -> Problem? {
        switch self {
        case .text(let text):
            let size = text.utf8.count
            guard size > MetadataLimits.bytesInText else { return nil }
            return Problem(rule: .metadataTextSize, size: size)
        case .object(let members):
            guard level <= MetadataLimits.depth else { return Problem(rule: .metadataDepth) }
            for member in members {
                guard Self.isLegal(key: member.key) else {
                    return Problem(rule: .metadataKey, key: member.key)
                }
                guard var problem = member.value.problem(at: level + 1) else { continue }
                problem.keys.append(member.key)
                return problem
            }
            return nil
        }
    }

    /// Checks the keys of a path from the root, and their number: at most one more than there are levels, because the
    /// last key may name a text in an object of the deepest level (ruling 29).
    ///
    /// - Throws: `invalid(property)`.
    public static func check(path: [String], as property: String) throws(Rejection) {
        guard path.count <= MetadataLimits.depth + 1 else {
            throw .invalid(property, .metadataDepth, .init(path: property))
        }
        for key in path where !isLegal(key: key) {
            throw .invalid(property, .metadataKey, .init(path: "metadata", text: key))
        }
    }

    /// Checks the size of the whole tree as compact JSON.
    ///
    /// - Throws: `invalid(property)` above ``MetadataLimits/bytesInTree``.
    func checkSize(as property: String) throws(Rejection) {
        let size = compactSize
        guard size <= MetadataLimits.bytesInTree else {
            throw .invalid(property, .metadataSize, .init(amount: size))
        }
    }

    /// Whether a key consists of one or more of the characters `A–Z a–z 0–9 - _` (R41).
    public static func isLegal(key: String) -> Bool {
        !key.isEmpty
            && key.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// The number of bytes of this tree as JSON without white space, with only the escapes that RFC 8259 §7 requires.
    public var compactSize: Int {
        switch self {
        case .text(let text):
            text.utf8.reduce(2) { size, byte in size + Self.escapedSize(byte) }
        case .object(let members):
            members.reduce(2 + max(members.count - 1, 0)) { size, member in
                size + member.key.utf8.count + 3 + member.value.compactSize
            }
        }
    }

    private static func escapedSize(_ byte: UInt8) -> Int {
        switch byte {
        case 0x22, 0x5C, 0x08, 0x09, 0x0A, 0x0C, 0x0D: 2
        case 0..<0x20: 6
        default: 1
        }
    }
}
