/// An object of an application as import and export transfer it, with its id and times (X10).
///
/// Two applications with equal records are equal: all other stored values follow from the records.
public enum ArchiveRecord: Equatable, Sendable {
    /// The name and creation time of the application, applied to an application without events.
    case application(Application)
    /// A user with the identity.
    case user(ArchivedUser)
    /// The users that a user follows and blocks.
    case relations(ArchivedRelations)
    /// A conversation without its messages, with each participant's view of it.
    case conversation(ArchivedConversation)
    /// A message with the contents that its parts attach.
    case message(ArchivedMessage)
    /// A content that no message attaches yet.
    case content(ArchivedContent)
    /// A scheduled message.
    case scheduled(ArchivedScheduledMessage)
    /// An announcement with its recipients.
    case announcement(ArchivedAnnouncement)
    /// A replay key.
    case key(ArchivedReplayKey)
}

/// The kind of a line of an export; its raw value is the `record` member of the line.
public enum ArchiveRecordKind: String, CaseIterable, Sendable {
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case application, user, relations, conversation, message, bytes, content, scheduled
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    case announcement, key

    /// The kinds that are records.
    public static let records = allCases.filter { kind in kind != .bytes }
}

extension ArchiveRecord {
    /// The kind of the record.
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

    /// The contents whose bytes the record needs.
    public var contents: [ArchivedContent] {
        switch self {
        case .message(let archived): archived.contents
        case .scheduled(let archived): archived.contents
        case .content(let archived): [archived]
        case .application, .user, .relations, .conversation, .announcement, .key: []
        }
    }
}

/// A line of an export (X10).
public enum ArchiveLine: Equatable, Sendable {
    /// The first line: the application of the records that follow.
    case application(Application)
    /// Bytes of a content; the record that contains the content follows.
    case bytes(ArchivedBytes)
    /// Every other line.
    case record(ArchiveRecord)
}

/// A range of bytes of a content on a separate line, before the record that contains the content.
public struct ArchivedBytes: Equatable, Sendable {
    /// The content.
    public let content: Content.ID
    /// The offset of the first byte.
    public let offset: Int64
    /// The bytes; none for an empty content.
    public let bytes: [UInt8]

    /// The number of bytes that an export writes on one line: 1 MiB of base64. Only the last line of a
    /// content has fewer.
    public static let defaultCount = 768 << 10
    /// The maximum number of bytes on one line.
    public static let maximumCount = 4 << 20

    /// All members.
    public init(of content: Content.ID, at offset: Int64, _ bytes: [UInt8]) {
        self.content = content
        self.offset = offset
        self.bytes = bytes
    }
}

/// A replay key, with which a repeat finds the same object on the other server; also the id of a deleted message, so
/// that it is not created again (ruling 12).
public struct ArchivedReplayKey: Equatable, Sendable {
    /// The kind of the object.
    public let kind: Replay.Kind
    /// The key.
    public let key: Replay.Key
    /// The id of the object.
    public let object: Identifier<ArchivedReplayKey>

    /// All members.
    public init(_ kind: Replay.Kind, _ key: Replay.Key, object: Identifier<ArchivedReplayKey>) {
        self.kind = kind
        self.key = key
        self.object = object
    }
}

/// An error in a line of an export; nothing of the line is applied.
public struct ArchiveLineError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The invalid member, such as `parts.body`; `nil` for the line as a whole.
    public let field: String?
    /// The rest of the sentence that starts with the member, such as "must be a UUID".
    public let rule: String

    /// An error in a member.
    public init(_ field: String?, _ rule: String) {
        self.field = field
        self.rule = rule
    }

    /// A text for people, without a full stop.
    public var description: String { (field.map { field in "\(field) " } ?? "") + rule }
}

/// The error that ended an import. All lines before it are durable.
public struct ImportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The number of the line, from 1.
    public let line: Int
    /// The error in the line.
    public let lineError: ArchiveLineError

    /// An error in a line.
    public init(_ lineError: ArchiveLineError, line: Int) {
        self.line = line
        self.lineError = lineError
    }

    /// A text for people, without a full stop.
    public var description: String { "line \(line): \(lineError)" }
}

/// The result of an import: how many records were added, and how many existed already.
public struct ImportSummary: Equatable, Sendable {
    /// The counts of one kind.
    public struct Count: Equatable, Sendable {
        /// The kind.
        public let kind: ArchiveRecordKind
        /// The number of added records.
        public fileprivate(set) var imported = 0
        /// The number of records that existed already, or had been deleted on this server.
        public fileprivate(set) var present = 0
    }

    /// The counts in the order in which the kinds first occurred.
    public private(set) var counts: [Count] = []
    /// The number of conversations that were merged into another one (X1).
    public private(set) var merged = 0
    /// Whether the import changed anything.
    public private(set) var hasChanged = false
    /// The number of durable lines.
    public var lines = 0

    /// A summary of no records.
    public init() {}

    /// Counts a record.
    ///
    /// - Parameter isNew: Whether it was added now.
    public mutating func count(_ kind: ArchiveRecordKind, isNew: Bool) {
        let known = counts.firstIndex { count in count.kind == kind }
        let index = known ?? counts.endIndex
        if known == nil { counts.append(Count(kind: kind)) }
        if isNew {
            counts[index].imported += 1
            hasChanged = true
        } else {
            counts[index].present += 1
        }
    }

    /// Counts an added conversation that was merged into another one.
    public mutating func countMerged() { merged += 1 }

    /// Records that the import sorted messages.
    public mutating func noteOrder() { hasChanged = true }
}

/// A record was imported from another server (X10).
public struct RecordImported: EventPayload {
    /// The record.
    public let record: ArchiveRecord
    /// Whether it is a message that did not get its own position, so that the messages of its conversation may have to be
    /// sorted (X1.3).
    public let isMoved: Bool

    /// All members.
    public init(record: ArchiveRecord, isMoved: Bool = false) {
        self.record = record
        self.isMoved = isMoved
    }

    /// The type of the event.
    public var type: EventType { .recordImported }

    /// The conversation under all its ids, or that of the message or content.
    public var namedConversations: [Conversation.ID] {
        switch record {
        case .conversation(let archived): [archived.conversation.id] + archived.aliases
        case .message(let archived): [archived.message.conversation]
        case .scheduled(let archived): [archived.message.conversation]
        case .content(let archived): archived.content.conversation.map { id in [id] } ?? []
        case .application, .user, .relations, .announcement, .key: []
        }
    }

    /// The users that the record names, of a message its sender.
    public var namedUsers: [UserID] {
        switch record {
        case .user(let archived): [archived.user.id]
        case .relations(let archived): [archived.user] + archived.followed + archived.blocked
        case .conversation(let archived): archived.members.map(\.participant.userID)
        case .message(let archived): archived.message.sender.userID.map { user in [user] } ?? []
        case .scheduled(let archived):
            archived.message.draft.sender.userID.map { user in [user] } ?? []
        case .content(let archived): archived.owner.map { user in [user] } ?? []
        case .announcement(let archived): archived.recipients.map(\.user)
        case .application, .key: []
        }
    }
}
