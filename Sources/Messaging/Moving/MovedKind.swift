/// What a line of an export is about; so it is called on the line.
public enum MovedKind: String, CaseIterable, Sendable {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case application, user, relations, conversation, message, bytes, content, scheduled
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case announcement, key

    /// Those that are records.
    public static let records = allCases.filter { kind in kind != .bytes }
}

extension MovedRecord {
    /// Of which kind it is.
    public var kind: MovedKind {
        switch self {
        case .application: .application
        case .user: .user
        case .relations: .relations
        case .conversation: .conversation
        case .message: .message
        case .content: .content
        case .scheduled: .scheduled
        case .announcement: .announcement
        case .key: .key
        }
    }

    /// The contents whose bytes it needs.
    public var contents: [MovedContent] {
        switch self {
        case .message(let moved): moved.contents
        case .scheduled(let moved): moved.contents
        case .content(let moved): [moved]
        case .application, .user, .relations, .conversation, .announcement, .key: []
        }
    }
}
