import SQL

/// The record of an upload that several processes share, and what they look for.
public struct UploadRow: Sendable, Equatable {
    /// SHA-256 of its token, in hexadecimal digits.
    public let name: String
    /// Rises with each replacement.
    public let version: Int64
    /// The process that replaced it last.
    public let holder: [UInt8]
    /// The content that comes by it.
    public let content: String
    /// The application it belongs to.
    public let application: String
    /// For whom it was created, among those of its application.
    public let owner: String
    /// Takes bytes.
    public let isOpen: Bool
    /// Bytes that will be a content's.
    public let claimed: Int64
    /// When somebody has to look at it, in milliseconds since 1970 UTC.
    public let dueAt: Int64
    /// What uploads alone read.
    public let record: [UInt8]
    /// The process that replaced it last is receiving a body.
    public let isWritten: Bool
    /// What another process asks of that process: 0 nothing, 1 to commit what it has received, 2 to stop.
    public let wanted: Int64

    /// Describes one.
    public init(
        name: String, version: Int64, holder: [UInt8], content: String, application: String,
        owner: String, isOpen: Bool, claimed: Int64, dueAt: Int64, record: [UInt8],
        isWritten: Bool = false, wanted: Int64 = 0
    ) {
        self.name = name
        self.version = version
        self.holder = holder
        self.content = content
        self.application = application
        self.owner = owner
        self.isOpen = isOpen
        self.claimed = claimed
        self.dueAt = dueAt
        self.record = record
        self.isWritten = isWritten
        self.wanted = wanted
    }

    /// What ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        "name, version, holder, content, application, owner, is_open, claimed, due_at, record, is_written, wanted"

    init(_ row: borrowing Row) throws {
        name = try row.text(0)
        version = try row.int64(1)
        holder = try row.blob(2)
        content = try row.text(3)
        application = try row.text(4)
        owner = try row.text(5)
        isOpen = try row.bool(6)
        claimed = try row.int64(7)
        dueAt = try row.int64(8)
        record = try row.blob(9)
        isWritten = try row.bool(10)
        wanted = try row.int64(11)
    }
}

/// What came of keeping the record of a new upload.
public enum UploadEntry: Sendable, Equatable {
    case kept
    /// Its owner has as many open uploads as he may.
    case tooMany
    /// Its application would claim more bytes than it may.
    case tooLarge
}
