public import JSON
public import Messaging

/// Conversation metadata: objects of strings and objects (R40).
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
    ///   - path: Where the tree belongs, such as `metadata.topic`.
    ///   - property: The member that a rejection names.
    /// - Throws: `invalid(property, .metadataValue)` for a value that is neither string nor object.
    static func read(
        _ value: JSONValue, at path: String, as property: String
    ) throws(Rejection) -> MetadataTree {
        var keys: [String] = []
        if let tree = read(value, &keys) { return tree }
        let place = ([path] + keys.reversed()).joined(separator: ".")
        throw .invalid(property, .metadataValue, .init(path: place))
    }

    /// - Parameter keys: The keys that lead to a bad value, the innermost first.
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
