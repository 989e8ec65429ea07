/// One thing of an application as it is brought from one server to another, with its id and its times
/// (X10).
///
/// An application is the same wherever its records are the same: what else stands in rows follows from
/// them.
public enum ArchiveRecord: Equatable, Sendable {
    /// What an application is called, and since when: for one in which nothing has happened yet.
    case application(Application)
    /// A user, and what was told about him.
    case user(ArchivedUser)
    /// Whom a user follows and blocks.
    case relations(ArchivedRelations)
    /// A conversation without its messages, with what each participant sees of it.
    case conversation(ArchivedConversation)
    /// A message with the contents its parts attach.
    case message(ArchivedMessage)
    /// A content that no message has come for yet.
    case content(ArchivedContent)
    /// A message that waits to be sent.
    case scheduled(ArchivedScheduledMessage)
    /// An announcement with what its recipients have made of it.
    case announcement(ArchivedAnnouncement)
    /// A key under which something was made.
    case key(ArchivedReplayKey)
}

/// What a line of an export is about; so it is called on the line.
public enum ArchiveRecordKind: String, CaseIterable, Sendable {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case application, user, relations, conversation, message, bytes, content, scheduled
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case announcement, key

    /// Those that are records.
    public static let records = allCases.filter { kind in kind != .bytes }
}

extension ArchiveRecord {
    /// Of which kind it is.
    public var kind: ArchiveRecordKind {
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
    public var contents: [ArchivedContent] {
        switch self {
        case .message(let moved): moved.contents
        case .scheduled(let moved): moved.contents
        case .content(let moved): [moved]
        case .application, .user, .relations, .conversation, .announcement, .key: []
        }
    }
}

/// A line of an export (X10).
public enum ArchiveLine: Equatable, Sendable {
    /// The first one: whose records follow.
    case application(Application)
    /// A piece of a content that the next record names.
    case bytes(ArchivedBytes)
    /// Every other one.
    case record(ArchiveRecord)
}

/// Some bytes of a content, which the record behind them names.
public struct ArchivedBytes: Equatable, Sendable {
    /// Whose they are.
    public let content: Content.ID
    /// The place of the first one, from 0.
    public let place: Int64
    /// The bytes; none of an empty content.
    public let bytes: [UInt8]

    /// How many an export puts on a line, which are a megabyte of base64; only the last piece of a
    /// content is shorter.
    public static let defaultCount = 768 << 10
    /// Most on a line.
    public static let maximumCount = 4 << 20

    /// A piece of a content.
    public init(of content: Content.ID, at place: Int64, _ bytes: [UInt8]) {
        self.content = content
        self.place = place
        self.bytes = bytes
    }
}

/// A key under which something was made, so that a late repeat finds it wherever it is repeated; and the
/// id of a message that was deleted, so that nothing brings it back (rulings 12).
public struct ArchivedReplayKey: Equatable, Sendable {
    /// What it stands for.
    public let kind: Replay.Kind
    /// The key.
    public let key: Replay.Key
    /// The UUID of what was made.
    public let object: Identifier<ArchivedReplayKey>

    /// A key as stored.
    public init(_ kind: Replay.Kind, _ key: Replay.Key, object: Identifier<ArchivedReplayKey>) {
        self.kind = kind
        self.key = key
        self.object = object
    }
}

/// What is wrong with a line of an export, of which nothing is kept then.
public struct ArchiveLineError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The member at fault, as `parts.body`; `nil` for the line as a whole.
    public let field: String?
    /// What it has to be or must not be, to stand behind its name.
    public let rule: String

    /// A mistake.
    public init(_ field: String?, _ rule: String) {
        self.field = field
        self.rule = rule
    }

    /// For a person, without a full stop.
    public var description: String { (field.map { field in "\(field) " } ?? "") + rule }
}

/// What is wrong with a line of an import; all lines before it are durable, and nothing of it is kept.
public struct ImportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The number of the line; the first is 1.
    public let line: Int
    /// What is wrong with it.
    public let mistake: ArchiveLineError

    /// A mistake on a line.
    public init(_ mistake: ArchiveLineError, line: Int) {
        self.line = line
        self.mistake = mistake
    }

    /// For a person, without a full stop.
    public var description: String { "line \(line): \(mistake)" }
}

/// What of an import has come, and what was there already.
public struct ImportSummary: Equatable, Sendable {
    /// How many of one kind.
    public struct Count: Equatable, Sendable {
        /// Of which kind.
        public let kind: ArchiveRecordKind
        /// So many have come.
        public fileprivate(set) var brought = 0
        /// So many were there, or were deleted since.
        public fileprivate(set) var present = 0
    }

    /// In the order in which the kinds came.
    public private(set) var counts: [Count] = []
    /// How many conversations became one with another (X1).
    public private(set) var merged = 0
    /// Whether anything is another than before.
    public private(set) var hasChanged = false
    /// How many lines are durable.
    public var lines = 0

    /// Nothing yet.
    public init() {}

    /// Counts one more.
    ///
    /// - Parameter isNew: Whether it has come now.
    public mutating func count(_ kind: ArchiveRecordKind, isNew: Bool) {
        let known = counts.firstIndex { count in count.kind == kind }
        let index = known ?? counts.endIndex
        if known == nil { counts.append(Count(kind: kind)) }
        if isNew {
            counts[index].brought += 1
            hasChanged = true
        } else {
            counts[index].present += 1
        }
    }

    /// Counts a conversation that has come and become one with another.
    public mutating func countMerged() { merged += 1 }

    /// Notes that messages have come into their order.
    public mutating func noteOrder() { hasChanged = true }
}
