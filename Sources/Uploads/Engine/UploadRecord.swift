internal import HTTP

/// All that is known of one upload, as it lies on the disk (§1.2).
///
/// The token is not here: the record's file is named by the token's SHA-256, so that neither the
/// folder nor a backup of it hands out capabilities.
struct UploadRecord: Sendable {
    let contentID: String
    let owner: UploadOwner
    let creation: CreationDialect
    let createdAt: Int64
    var state = UploadState.created
    var failure: FailureReason?
    var lastProgressAt: Int64
    /// For open uploads the end of their life, for ended ones the day they are forgotten.
    var expiresAt: Int64
    /// Total size; immutable once set.
    var length: Int64?
    /// Durable leading bytes.
    var offset: Int64 = 0
    var mediaType: String?
    var fileName: String?
    var origin: String?
    var tus = TusTerms()
    var declared = DeclaredDigests()
    var hashes = RunningHashes()
    var completedAt: Int64?
    /// What of its bytes lies where other processes find it, when they share uploads.
    var held: HeldParts?
    /// The final answer, sent again byte for byte.
    var answer: StoredAnswer?

    init(_ draft: UploadDraft, creation: CreationDialect, at now: Int64, lives: Int64) {
        contentID = draft.contentID
        owner = draft.owner
        self.creation = creation
        createdAt = now
        lastProgressAt = now
        expiresAt = now + lives
        length = draft.length
        mediaType = draft.mediaType.map(MediaType.init(untrusted:))?.text
        fileName = draft.fileName.map(FileName.init(untrusted:))?.text
        origin = draft.origin
        declared = draft.declared
        // Its clients may ask for MD5 at the end (§4.5).
        hashes.want(md5: creation == .gcs || declared.md5 != nil)
        tus = draft.tus
    }

    /// What the content is said to be.
    var storedType: String { mediaType ?? MediaType.unknown.text }

    /// Whole, and kept for concatenations: it never becomes a content by itself (§6.10).
    var isKeptPart: Bool { tus.isPartial && state == .complete }
    /// Its bytes are still needed, as no content's: a finished part lies there until it is forgotten (§6.10).
    var isHeld: Bool { !state.isTerminal || isKeptPart }
    /// Bytes that will be a content's: of unknown length, those that are held.
    var claimed: Int64 { isHeld ? length ?? offset : 0 }
    /// Its time counts: it takes bytes, or its bytes are kept for others.
    var mayExpire: Bool { state.isOpen || isKeptPart }

    init(contentID: String, owner: UploadOwner, creation: CreationDialect, createdAt: Int64) {
        self.contentID = contentID
        self.owner = owner
        self.creation = creation
        self.createdAt = createdAt
        lastProgressAt = createdAt
        expiresAt = createdAt
    }
}

/// The final answer as it was first sent (§5.6).
struct StoredAnswer: Sendable, Equatable {
    /// With its quotes.
    let etag: String
    /// The value of `X-Goog-Hash`.
    let hashes: String
    let size: Int64
    /// The JSON.
    let body: [UInt8]
}
