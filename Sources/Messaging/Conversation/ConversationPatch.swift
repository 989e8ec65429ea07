/// One operation on a conversation (platform-api 4 and 5.1.5).
public enum ConversationPatch: Equatable, Sendable {
    case addParticipant(UserID)
    case removeParticipant(UserID)
    case setParticipants([UserID])
    /// The path holds the keys below `metadata`; empty for the whole tree.
    case setMetadata(path: [String], MetadataTree)
    /// The path holds the keys below `metadata`; empty empties the tree (rulings 8).
    case deleteMetadata(path: [String])

    /// The `property` text of the operation, for rejections (rulings 5).
    public var property: String {
        switch self {
        case .addParticipant, .removeParticipant, .setParticipants:
            "participants"
        case .setMetadata(let path, _), .deleteMetadata(let path):
            (["metadata"] + path.map(Self.escaped)).joined(separator: ".")
        }
    }

    /// A dot inside a key is written `\.` in a path (R41).
    private static func escaped(_ key: String) -> String {
        key.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "\\.")
    }
}
