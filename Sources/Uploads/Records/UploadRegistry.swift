/// Stores the records of uploads that several processes share.
///
/// A record is replaced only on condition of its version, so of two processes that write to an upload one is
/// refused. The registry does not interpret the record itself.
public protocol UploadRegistry: Sendable {
    /// The record of that name; `nil` for none.
    func find(_ name: String) async throws -> RegisteredUpload?

    /// The record of the upload that results in a content; `nil` for none.
    func find(content: String) async throws -> RegisteredUpload?

    /// Stores a new record, durably, if its owner and its application are within their limits; both are checked in
    /// the same transaction.
    ///
    /// - Parameters:
    ///   - mostOpen: How many open uploads its owner may have, including this one.
    ///   - mostClaimed: How many bytes its application may reserve, including this one; `nil` for no limit.
    func create(
        _ upload: RegisteredUpload, mostOpen: Int, mostClaimed: Int64?
    ) async throws -> UploadCreationResult

    /// Replaces a record, durably, unless its version has changed.
    ///
    /// - Parameters:
    ///   - upload: The new record with its new version.
    ///   - version: The expected current version.
    /// - Returns: False when the version is another one; nothing is changed then.
    func replace(_ upload: RegisteredUpload, version: Int64) async throws -> Bool

    /// Requests a commit or a stop from a process, which receives the request through
    /// ``Uploads/answer(_:for:at:)`` or reads it in the record.
    ///
    /// - Returns: False when that process does not receive the body of the upload; nothing is stored then.
    func send(_ request: UploadWriterRequest, to holder: [UInt8], of name: String) async throws
        -> Bool

    /// Records that a process has carried out the request, or does not answer.
    ///
    /// - Parameter isWritten: Whether the process continues to receive, as far as is known.
    func answer(_ name: String, at holder: [UInt8], isWritten: Bool) async throws

    /// Deletes the record of that version; does nothing when it has another one.
    func forget(_ name: String, version: Int64) async throws

    /// The names of records that are due, those longest due first.
    func due(at moment: Int64, limit: Int) async throws -> [String]

    /// Records after that of a content, by descending content: those that accept bytes, or the others.
    ///
    /// - Parameter application: The application; `nil` for all.
    func list(
        _ application: String?, isOpen: Bool, after content: String?, limit: Int
    ) async throws -> [RegisteredUpload]

    /// The bytes that all uploads of an application reserve.
    func claimed(by application: String) async throws -> Int64

    /// Runs work that only one process does at a time; does nothing while another process runs it.
    func runExclusively(_ work: @escaping @Sendable () async -> Void) async throws
}

/// A request of a process to the one that receives the body of an upload (ruling 33).
public enum UploadWriterRequest: Int64, Sendable {
    /// Commit what was received, and continue.
    case commit = 1
    /// Commit what was received, and stop.
    case stop = 2
}

/// The result of storing a new record.
public enum UploadCreationResult: Sendable, Equatable {
    case created
    /// The owner has as many open uploads as allowed.
    case tooMany
    /// The application would reserve more bytes than allowed.
    case tooLarge
}

/// An upload record in the registry, with the values that the registry searches by.
public struct RegisteredUpload: Sendable, Equatable {
    /// The name of the record: the SHA-256 of the token, in hexadecimal digits.
    public var name: String
    /// Rises with each replacement.
    public var version: Int64
    /// The process that replaced it last: 16 random bytes, new at each start.
    public var holder: [UInt8]
    /// The resulting content.
    public var content: String
    /// The application.
    public var application: String
    /// The owner among those of the application.
    public var owner: String
    /// Whether the upload accepts bytes.
    public var isOpen: Bool
    /// The bytes that count for the quota.
    public var claimed: Int64
    /// When the sweeper must process it, in milliseconds since 1970 UTC: its expiry, or, while it is being
    /// finished, when the claim of the finishing process ends.
    public var dueAt: Int64
    /// The encoded record; opaque to the registry.
    public var record: [UInt8]
    /// Whether the holder is receiving a body.
    public var isWritten: Bool
    /// The request of another process to the holder. Stays until ``UploadRegistry/answer(_:at:isWritten:)``, also while
    /// the holder replaces the record and continues to receive.
    public var request: UploadWriterRequest?

    /// Makes a row; a new upload is not being written.
    public init(
        name: String, version: Int64, holder: [UInt8], content: String, application: String,
        owner: String, isOpen: Bool, claimed: Int64, dueAt: Int64, record: [UInt8],
        isWritten: Bool = false, request: UploadWriterRequest? = nil
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
        self.request = request
    }
}
