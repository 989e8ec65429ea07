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

    /// Reads a tree; `nil` when anything in it is neither string nor object.
    ///
    /// Keys, lengths and depth are the domain's to judge.
    static func read(_ value: JSONValue) -> MetadataTree? {
        switch value.kind {
        case .string: return value.string.map(MetadataTree.text)
        case .object:
            var members: [MetadataTree.Member] = []
            for (key, value) in value.members {
                guard let tree = read(value) else { return nil }
                members.append(MetadataTree.Member(key: key, value: tree))
            }
            return .object(members)
        case .array, .number, .bool, .null: return nil
        }
    }
}
