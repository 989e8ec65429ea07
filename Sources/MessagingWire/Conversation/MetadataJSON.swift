public import JSON
public import Messaging

/// The metadata of a conversation: an object of strings and objects (R40).
public enum MetadataJSON {
    /// Writes a tree as a client sees it.
    public static func write(_ tree: MetadataTree, into writer: inout JSONWriter) {
        switch tree {
        case .text(let text): writer.string(text)
        case .object(let members):
            writer.object { writer in
                for member in members {
                    writer.key(member.key)
                    write(member.value, into: &writer)
                }
            }
        }
    }

    /// Reads a tree; keys, lengths and depth are checked by the domain.
    ///
    /// - Parameters:
    ///   - path: The path of the tree, such as `metadata.topic`.
    ///   - property: The member that a rejection names.
    /// - Throws: `invalid(property, .metadataValue)` for a value that is neither string nor object.
    static func read(
        _ value: JSONValue, at path: String, as property: String
    ) throws(Rejection) -> MetadataTree {
        var keys: [String] = []
        if let tree = read(value, &keys) { return tree }
        let invalidPath = ([path] + keys.reversed()).joined(separator: ".")
        throw .invalid(property, .metadataValue, .init(path: invalidPath))
    }

    /// Reads a tree that the server wrote; `nil` for a value that is neither string nor object.
    public static func read(_ value: JSONValue) -> MetadataTree? {
        var keys: [String] = []
        return read(value, &keys)
    }

    /// - Parameter keys: The keys that lead to an invalid value, the innermost first.
    private static func read(_ value: JSONValue, _ keys: inout [String]) -> MetadataTree? {
        switch value.kind {
        case .string: return value.string.map(MetadataTree.text)
        case .object:
            var members: [MetadataTree.Member] = []
            for (key, value) in value.members {
                guard let tree = read(value, &keys) else {
                    keys.append(key)
                    return nil
                }
                members.append(MetadataTree.Member(key: key, value: tree))
            }
            return .object(members)
        case .array, .number, .bool, .null: return nil
        }
    }
}

extension MetadataJSON {
    /// The schema of metadata (R40–R42).
    static let schema = JSONSchema.named(
        "Metadata",
        .object([], others: .anyOf([.string(length: 0...2048), .reference("Metadata")]))
            .withDescription(
                """
                Strings of at most 2048 bytes, and objects of such values, 32 levels deep and 256 KiB in \
                all; keys are letters, digits, `-` and `_`.
                """))
}

/// A path in metadata as patches and queries write it: `metadata.topic.colour` (platform-api §4).
public enum MetadataPathJSON {
    /// Returns the keys from the root; `nil` for a text that names no key below `metadata`.
    public static func read(_ text: String) -> [String]? {
        guard case .metadata(let path)? = PatchProperty(text), !path.isEmpty,
            path.allSatisfy({ key in !key.isEmpty })
        else { return nil }
        return path
    }
}

extension Sequence {
    /// Returns the elements in the member order of JavaScript: array indices ascending, then the other names in their
    /// given order (webhooks §3.2).
    func inMemberOrder(by name: (Element) -> String) -> [Element] {
        let named = map { element in (index: arrayIndex(name(element)), element: element) }
        let indices = named.filter { $0.index != nil }.sorted { ($0.index ?? 0) < ($1.index ?? 0) }
        return (indices + named.filter { $0.index == nil }).map(\.element)
    }
}

/// The number of a canonical array index: decimal without leading zeros, below 2³² − 1.
private func arrayIndex(_ name: String) -> UInt32? {
    guard name.utf8.first != UInt8(ascii: "+"), let index = UInt32(name), index < .max,
        String(index).utf8.elementsEqual(name.utf8)
    else { return nil }
    return index
}

extension MetadataTree {
    /// The same tree with the members of each object in the member order of JavaScript.
    var inMemberOrder: MetadataTree {
        switch self {
        case .text: return self
        case .object(let members):
            return .object(
                members.inMemberOrder(by: \.key).map { member in
                    Member(key: member.key, value: member.value.inMemberOrder)
                })
        }
    }
}
