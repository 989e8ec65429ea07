internal import Messaging

/// The metadata of a conversation: texts, and objects of such values.
public indirect enum Metadata: Hashable, Sendable {
    /// A text of at most 2,048 bytes.
    case text(String)
    /// Values by their keys, which have letters, digits, `-` and `_`.
    case object([String: Metadata])

    /// No values.
    public static let empty = Metadata.object([:])

    /// The value at a path; `nil` if there is none.
    public subscript(path: MetadataPath) -> Metadata? {
        var value = self
        for key in path.keys {
            guard case .object(let members) = value, let member = members[key] else { return nil }
            value = member
        }
        return value
    }

    /// The text, if this is one.
    public var text: String? {
        if case .text(let text) = self { text } else { nil }
    }
}

extension Metadata: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    /// A text.
    public init(stringLiteral text: String) { self = .text(text) }

    /// An object; of two equal keys the last counts.
    public init(dictionaryLiteral elements: (String, Metadata)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension Metadata: Codable {
    /// Reads strings and objects.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .object(try container.decode([String: Metadata].self))
        }
    }

    /// Writes strings and objects.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .object(let members): try container.encode(members)
        }
    }
}

/// A path to a metadata value: keys separated by dots, such as `board.color`.
public struct MetadataPath: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The keys from the root.
    public let keys: [String]

    /// Reads a path.
    ///
    /// - Throws: `invalidMetadata` for an empty key, a key with another character than a letter, a digit, `-` or `_`,
    ///   and for more than 33 keys.
    public init(_ dotted: String) throws(ParleyError) {
        self.init(unchecked: dotted)
        try check()
    }

    /// Reads a path; an invalid one is refused by the function that gets it.
    public init(stringLiteral dotted: String) { self.init(unchecked: dotted) }

    private init(unchecked dotted: String) {
        keys = dotted.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    func check() throws(ParleyError) {
        do throws(Rejection) {
            try MetadataTree.check(path: keys, as: "metadata")
        } catch {
            throw ParleyError(
                .invalidMetadata,
                """
                The path \(keys.joined(separator: ".")) must have 1 to 33 keys of letters, digits, "-" and "_", \
                separated by dots.
                """)
        }
    }
}

extension Metadata {
    init(_ tree: MetadataTree) {
        switch tree {
        case .text(let text): self = .text(text)
        case .object(let members):
            self = .object(
                Dictionary(members.map { ($0.key, Metadata($0.value)) }) { _, last in last })
        }
    }

    /// The tree in the domain's form, members sorted by key.
    var tree: MetadataTree {
        switch self {
        case .text(let text): .text(text)
        case .object(let members):
            .object(
                members.sorted { left, right in left.key < right.key }
                    .map { key, value in MetadataTree.Member(key: key, value: value.tree) })
        }
    }

    /// This tree after a patch: objects on the path are created, and texts on it replaced.
    func setting(_ value: Metadata, at keys: ArraySlice<String>) -> Metadata {
        guard let key = keys.first else { return value }
        var members = if case .object(let members) = self { members } else { [String: Metadata]() }
        members[key] = (members[key] ?? .empty).setting(value, at: keys.dropFirst())
        return .object(members)
    }

    /// This tree without the value at a path; unchanged if there is none.
    func deleting(at keys: ArraySlice<String>) -> Metadata {
        guard let key = keys.first else { return .empty }
        guard case .object(var members) = self, let member = members[key] else { return self }
        members[key] = keys.count == 1 ? nil : member.deleting(at: keys.dropFirst())
        return .object(members)
    }

    /// The texts by their paths.
    var leaves: [String: String] {
        var found: [String: String] = [:]
        collectLeaves(below: "", into: &found)
        return found
    }

    private func collectLeaves(below path: String, into found: inout [String: String]) {
        switch self {
        case .text(let text): found[path] = text
        case .object(let members):
            for (key, value) in members {
                value.collectLeaves(below: path.isEmpty ? key : "\(path).\(key)", into: &found)
            }
        }
    }

    /// Validates the tree as the server does (K52).
    ///
    /// - Parameter level: How many keys lead to it.
    func check(level: Int = 0) throws(ParleyError) {
        do throws(Rejection) {
            try tree.check(as: "metadata", level: level)
        } catch {
            throw ParleyError(
                .invalidMetadata,
                """
                Metadata has keys of letters, digits, "-" and "_", texts of at most 2,048 bytes, and at most 32 levels \
                below the root.
                """)
        }
        guard tree.compactSize <= MetadataLimits.bytesInTree else {
            throw ParleyError(
                .invalidMetadata,
                "The metadata has \(tree.compactSize) bytes; at most \(MetadataLimits.bytesInTree) are allowed."
            )
        }
    }
}
