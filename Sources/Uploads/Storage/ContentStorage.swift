internal import Blobs
internal import ObjectStore

/// Stores complete content and turns staged bytes into content (§10).
///
/// Bytes always arrive in a staged file on the local disk, so the offset is the number of bytes that are durable
/// there, whatever the storage is. A storage does not know uploads: names are content ids.
protocol ContentStorage: Sendable {
    /// Publishes a staged file whose bytes are durable.
    ///
    /// May be repeated, also after a crash in the middle.
    func publish(_ content: StagedContent) async throws(StorageError)

    /// Publishes a staged archive; in a bucket, under the name of this attempt.
    func publish(_ archive: ArchiveFile, _ content: StagedContent) async throws(StorageError)

    /// Publishes a staged file that was imported and is durable.
    ///
    /// - Returns: False when the content exists with other bytes; both are left as they are.
    func publishStaged(_ staged: BlobName, as content: StagedContent) async throws(StorageError)
        -> Bool

    /// Whether complete content of that name is on the local disk.
    func isPublishedHere(_ name: BlobName) async throws(StorageError) -> Bool

    /// Opens complete content for reading; deleting it meanwhile does not affect readers.
    ///
    /// - Throws: ``StorageError/missing`` when there is no such content.
    func open(_ name: BlobName) async throws(StorageError) -> OpenContent

    /// Deletes complete content durably; may be repeated.
    ///
    /// - Returns: The number of bytes that are freed now, or when the last reader closes.
    func erase(_ name: BlobName) async throws(StorageError) -> Int64

    /// The uploader that sends staged bytes to a bucket while more arrive; `nil` on a local disk.
    func uploader(of name: BlobName) -> PartUploader?

    /// How many bytes of a content of this length are staged at the same time, at most.
    func mostStaged(of length: Int64?) -> Int64

    /// Whether all bytes of a content can be read on the local disk, staged or published.
    func isFullyStaged(_ name: BlobName) async throws(StorageError) -> Bool

    /// Discards the parts of an upload that has ended without content; the caller discards the staged file.
    func cancelParts(of name: BlobName)

    /// Removes what ended uploads have left behind; part of the sweeper's work (§11.8).
    func tidy(isStaged: @Sendable (BlobName) -> Bool) async
}

/// A complete staged file, with the values that publishing needs.
struct StagedContent: Sendable {
    let name: BlobName
    /// In bytes.
    let size: Int64
    /// Validated.
    let mediaType: String
    /// `nil` when it is not known yet.
    let sha256: [UInt8]?
}

/// Why a storage operation failed.
enum StorageError: Error, Equatable {
    /// The local disk failed.
    case disk(DiskError)
    /// There is no such content.
    case missing
    /// Acknowledged bytes are lost.
    case lost
    /// The bucket cannot be reached or refuses; a retry may succeed.
    case unavailable(ObjectStoreError)
    /// The registry of upload records cannot be reached.
    case unregistered
    /// Another process has taken over.
    case fenced

    /// Whether a retry is useless, because the bytes are gone.
    var isFinal: Bool {
        switch self {
        case .missing, .lost: true
        case .disk(let error): error.kind == .damaged
        case .unavailable, .unregistered, .fenced: false
        }
    }

    init(_ error: DiskError) { self = error.kind == .missing ? .missing : .disk(error) }

    init(_ error: ObjectStoreError) {
        self =
            switch error.kind {
            case .missingObject: .missing
            case .missingUpload: .lost
            default: .unavailable(error)
            }
    }
}

extension UploadError {
    /// The error that a client sees when the storage fails.
    init(_ error: StorageError) {
        self =
            switch error {
            case .disk(let error): UploadError(error)
            case .missing, .lost: .backend
            // Acknowledged bytes are kept, and the client may retry.
            case .unavailable, .unregistered: .unavailable
            case .fenced: .superseded
            }
    }
}
