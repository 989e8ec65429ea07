/// Where several processes keep the records of the uploads that each of them may continue.
///
/// A record is replaced only by whoever has seen its last version, so of two processes that believe
/// to write an upload one learns that it does not. Nothing here is interpreted by the registry but what
/// stands beside the record.
public protocol UploadRegistry: Sendable {
    /// The record of that name; `nil` for none.
    func find(_ name: String) async throws -> RegisteredUpload?

    /// The record of the upload that a content comes by.
    func find(content: String) async throws -> RegisteredUpload?

    /// Keeps a new record, durably, if its owner and its application may have one more; both are judged
    /// with everything else that is under way at that moment.
    ///
    /// - Parameters:
    ///   - mostOpen: How many open uploads its owner may have with this one.
    ///   - mostClaimed: How many bytes its application may claim with this one; `nil` for any number.
    func create(
        _ upload: RegisteredUpload, mostOpen: Int, mostClaimed: Int64?
    ) async throws -> UploadCreationResult

    /// Replaces a record, durably, unless somebody else did since.
    ///
    /// - Parameters:
    ///   - upload: With the version it is to have.
    ///   - version: The one it has.
    /// - Returns: False when it has another one, and nothing was done.
    func replace(_ upload: RegisteredUpload, version: Int64) async throws -> Bool

    /// Asks the process of a holder for something; it hears of it through ``Uploads/answer(_:for:at:)``, or when it
    /// looks at the record the next time.
    ///
    /// - Returns: False when that process does not receive the body of the upload, and nothing is asked.
    func ask(_ name: String, at holder: [UInt8], to request: UploadWriterRequest) async throws
        -> Bool

    /// Notes that the process of a holder has done what it was asked, or does not answer.
    ///
    /// - Parameter isWritten: Whether it goes on to receive, as far as is known.
    func answer(_ name: String, at holder: [UInt8], isWritten: Bool) async throws

    /// Forgets a record of that version; nothing when it has another one.
    func forget(_ name: String, version: Int64) async throws

    /// The names of records that are due, those longest due first.
    func due(at moment: Int64, limit: Int) async throws -> [String]

    /// Bytes that all uploads of an application claim.
    func claimed(by application: String) async throws -> Int64

    /// Does work that only one of all processes does at a time, unless another one does it.
    func runExclusively(_ work: @escaping @Sendable () async -> Void) async throws
}

/// What a process asks of the one that receives the body of an upload (ruling 33).
public enum UploadWriterRequest: Int64, Sendable {
    /// To commit what it has received, and go on.
    case commit = 1
    /// To commit what it has received, and stop.
    case stop = 2
}

/// What came of keeping a new record.
public enum UploadCreationResult: Sendable, Equatable {
    case created
    /// Its owner has as many open uploads as he may.
    case tooMany
    /// Its application would hold more bytes than it may.
    case tooLarge
}

/// A record among those of several processes, and what they look for.
public struct RegisteredUpload: Sendable, Equatable {
    /// SHA-256 of the token, in hexadecimal digits.
    public var name: String
    /// Rises with each replacement.
    public var version: Int64
    /// The process that replaced it last, 16 bytes that are new with each start.
    public var holder: [UInt8]
    /// The content that comes by it.
    public var content: String
    /// The application it belongs to.
    public var application: String
    /// For whom it was created, among those of its application.
    public var owner: String
    /// Takes bytes.
    public var isOpen: Bool
    /// Bytes that will be a content's.
    public var claimed: Int64
    /// When somebody has to look at it, in milliseconds since 1970 UTC: its end, or while it is being
    /// finished when it is believed that nobody does.
    public var dueAt: Int64
    /// The record, opaque.
    public var record: [UInt8]
    /// The holder is receiving a body.
    public var isWritten: Bool
    /// What another process asks of the holder; stays asked while the holder replaces the record and goes on to
    /// receive, until ``UploadRegistry/answer(_:at:isWritten:)``.
    public var request: UploadWriterRequest?

    /// Describes one.
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
