internal import Blobs
internal import ObjectStore

/// Where complete contents lie, and how staged bytes become one (§10).
///
/// Bytes always arrive in a staged file on the local disk, so an offset is what is durable there,
/// whatever the storage. Nothing here knows an upload: names are those of contents.
protocol ContentStorage: Sendable {
    /// Makes a complete content of a staged file whose bytes are durable.
    ///
    /// Repeating it is harmless, also after a crash in the middle.
    func publish(_ content: StagedContent) async throws(StorageError)

    /// Makes what can be read of a staged archive, under the name of this attempt where others make it, too.
    func publish(_ archive: Archive, _ content: StagedContent) async throws(StorageError)

    /// Makes a complete content of a staged file that came from elsewhere and is durable.
    ///
    /// - Returns: False when other bytes lie under the content's name; they stay, and so does the file.
    func publishStaged(_ staged: BlobName, as content: StagedContent) async throws(StorageError)
        -> Bool

    /// Whether a complete content of that name lies on this disk.
    func isPublishedHere(_ name: BlobName) async throws(StorageError) -> Bool

    /// Opens a complete content for reading; deleting it meanwhile harms no reader.
    ///
    /// - Throws: ``StorageError/missing`` when nothing of that name is complete.
    func open(_ name: BlobName) async throws(StorageError) -> OpenContent

    /// Deletes a complete content durably; repeating it is harmless.
    ///
    /// - Returns: Bytes that are free now, or once nobody reads them.
    func erase(_ name: BlobName) async throws(StorageError) -> Int64

    /// Who moves staged bytes on while more arrive; `nil` where they stay until all are there.
    func uploader(of name: BlobName) -> PartUploader?

    /// How many bytes of a content of this length are ever staged at the same time.
    func mostStaged(of length: Int64?) -> Int64

    /// Whether all staged bytes of a content can be read here, or it is published here already.
    func isFullyStaged(_ name: BlobName) async throws(StorageError) -> Bool

    /// Hears that an upload has ended without a content; its staged file is somebody else's business.
    func cancelParts(of name: BlobName)

    /// Removes what uploads that are no more have left behind; part of the sweeper's work (§11.8).
    func tidy(isUnderWay: @Sendable (BlobName) -> Bool) async
}

/// A staged file that has all its bytes, and what a storage tells others of it.
struct StagedContent: Sendable {
    let name: BlobName
    /// In bytes.
    let size: Int64
    /// Validated.
    let mediaType: String
    /// Where it is known already.
    let sha256: [UInt8]?
}

/// What a storage of contents could not do.
enum StorageError: Error, Equatable {
    /// The local disk did not do what was asked.
    case disk(DiskError)
    /// There is no such content.
    case missing
    /// Bytes that were taken are gone.
    case lost
    /// The store could not be reached, or would not; it may change its mind.
    case unavailable(ObjectStoreError)
    /// Those who keep the records of several processes could not be asked.
    case unregistered
    /// Another process has taken over.
    case fenced

    /// Waiting changes nothing: the bytes are not there.
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
    /// What a failing storage means to a client.
    init(_ error: StorageError) {
        self =
            switch error {
            case .disk(let error): UploadError(error)
            case .missing, .lost: .backend
            // What is held stays held, and the client may try again.
            case .unavailable, .unregistered: .unavailable
            case .fenced: .superseded
            }
    }
}
