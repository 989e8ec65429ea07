internal import Blobs
internal import Bytes
internal import HTTP

/// All that is known of one upload, as it lies on the disk (§1.2).
///
/// The token is not here: the record's file is named by the token's SHA-256, so that neither the
/// folder nor a backup of it hands out capabilities.
struct UploadRecord: Sendable {
    let contentID: String
    let owner: UploadOwner
    let creation: UploadProtocol
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
    var tus = TusHeaders()
    var declared = DeclaredDigests()
    var hashes = RunningHashes()
    var completedAt: Int64?
    /// What of its bytes lies where other processes find it, when they share uploads.
    var held: StoredParts?
    /// The final answer, sent again byte for byte.
    var answer: StoredResponse?

    init(_ draft: UploadDraft, creation: UploadProtocol, at now: Int64, lives: Int64) {
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

    init(contentID: String, owner: UploadOwner, creation: UploadProtocol, createdAt: Int64) {
        self.contentID = contentID
        self.owner = owner
        self.creation = creation
        self.createdAt = createdAt
        lastProgressAt = createdAt
        expiresAt = createdAt
    }
}

/// The final answer as it was first sent (§5.6).
struct StoredResponse: Sendable, Equatable {
    /// With its quotes.
    let etag: String
    /// The value of `X-Goog-Hash`.
    let hashes: String
    let size: Int64
    /// The JSON.
    let body: [UInt8]
}

/// Where an upload stands (§1.3).
enum UploadState: UInt8, Sendable {
    case created = 1
    case receiving = 2
    case finalizing = 3
    case complete = 4
    case failed = 5
    case cancelled = 6
    case expired = 7

    /// Takes bytes.
    var isOpen: Bool { self == .created || self == .receiving }
    /// Nothing will ever change it, but forgetting.
    var isTerminal: Bool { rawValue >= UploadState.complete.rawValue }

    /// Ended without a content.
    var isGone: Bool { rawValue >= UploadState.failed.rawValue }

    /// As the neutral status says it.
    var name: String { "\(self)" }
}

/// Why an upload failed; kept so that `HEAD` can tell a wrong digest from lost bytes.
enum FailureReason: UInt8, Sendable {
    case digest = 1
    case storageLost = 2
    case refused = 3
    case quota = 4
    case overflow = 5
}

extension UploadRecord {
    /// Numbers of the fields on disk; never used twice, never changed.
    private enum Tag {
        static let contentID: UInt8 = 1
        static let application: UInt8 = 2
        static let conversation: UInt8 = 3
        static let creation: UInt8 = 4
        static let createdAt: UInt8 = 5
        static let state: UInt8 = 6
        static let failure: UInt8 = 7
        static let lastProgressAt: UInt8 = 8
        static let expiresAt: UInt8 = 9
        static let length: UInt8 = 10
        static let offset: UInt8 = 11
        static let mediaType: UInt8 = 12
        static let fileName: UInt8 = 13
        static let origin: UInt8 = 14
        static let declaredMD5: UInt8 = 15
        static let declaredCRC32C: UInt8 = 16
        static let sha256: UInt8 = 17
        static let crc32c: UInt8 = 18
        static let covered: UInt8 = 19
        static let md5: UInt8 = 20
        static let coveredByMD5: UInt8 = 21
        static let completedAt: UInt8 = 22
        static let answerTag: UInt8 = 23
        static let answerHashes: UInt8 = 24
        static let answerSize: UInt8 = 25
        static let answerBody: UInt8 = 26
        static let user: UInt8 = 27
        static let declaredSHA256: UInt8 = 30
        static let declaredSHA512: UInt8 = 31
        static let metadata: UInt8 = 40
        static let concat: UInt8 = 41
        static let held: UInt8 = 50
    }

    /// The record as it is stored.
    var bytes: [UInt8] {
        var row = TaggedBytes()
        row.add(Tag.contentID, contentID)
        row.add(Tag.application, owner.application)
        row.add(Tag.conversation, owner.conversation)
        row.add(Tag.user, owner.user)
        row.add(Tag.creation, creation.recordNumber)
        row.add(Tag.createdAt, createdAt)
        row.add(Tag.state, Int64(state.rawValue))
        row.add(Tag.failure, failure.map { Int64($0.rawValue) })
        row.add(Tag.lastProgressAt, lastProgressAt)
        row.add(Tag.expiresAt, expiresAt)
        row.add(Tag.length, length)
        row.add(Tag.offset, offset)
        row.add(Tag.mediaType, mediaType)
        row.add(Tag.fileName, fileName)
        row.add(Tag.origin, origin)
        row.add(Tag.declaredMD5, declared.md5)
        row.add(Tag.declaredCRC32C, declared.crc32c.map(Int64.init))
        row.add(Tag.declaredSHA256, declared.sha256)
        row.add(Tag.declaredSHA512, declared.sha512)
        row.add(Tag.metadata, tus.metadata)
        row.add(Tag.concat, tus.concat)
        row.add(Tag.held, held?.bytes)
        if !state.isTerminal || isKeptPart { addHashes(to: &row) }
        row.add(Tag.completedAt, completedAt)
        row.add(Tag.answerTag, answer?.etag)
        row.add(Tag.answerHashes, answer?.hashes)
        row.add(Tag.answerSize, answer?.size)
        row.add(Tag.answerBody, answer?.body)
        return row.bytes
    }

    /// Reads a stored record; `nil` when it is not one.
    init?(_ bytes: [UInt8]) {
        guard
            let row = TaggedBytes(bytes), let contentID = row.text(Tag.contentID),
            let application = row.text(Tag.application),
            let creation = row.number(Tag.creation).flatMap(UploadProtocol.init(recordNumber:)),
            let createdAt = row.number(Tag.createdAt),
            let state = row.number(Tag.state).flatMap(UploadState.init(number:)),
            let lastProgressAt = row.number(Tag.lastProgressAt),
            let expiresAt = row.number(Tag.expiresAt), let offset = row.number(Tag.offset)
        else { return nil }
        let length = row.number(Tag.length)
        // What follows adds to these numbers.
        guard [createdAt, lastProgressAt, expiresAt].allSatisfy(UploadRecord.times.contains),
            offset >= 0, offset <= length ?? .max
        else { return nil }
        let owner = UploadOwner(
            application: application, conversation: row.text(Tag.conversation),
            user: row.text(Tag.user))
        self.init(
            contentID: contentID, owner: owner, creation: creation, createdAt: createdAt)
        self.state = state
        self.lastProgressAt = lastProgressAt
        self.expiresAt = expiresAt
        self.offset = offset
        failure = row.number(Tag.failure).flatMap(FailureReason.init(number:))
        self.length = length
        mediaType = row.text(Tag.mediaType)
        fileName = row.text(Tag.fileName)
        origin = row.text(Tag.origin)
        tus.metadata = row.text(Tag.metadata)
        tus.concat = row.text(Tag.concat)
        held = row.bytes(Tag.held).flatMap { bytes in StoredParts(bytes) }
        declared.md5 = row.bytes(Tag.declaredMD5)
        declared.crc32c = row.number(Tag.declaredCRC32C).map(UInt32.init(truncatingIfNeeded:))
        declared.sha256 = row.bytes(Tag.declaredSHA256)
        declared.sha512 = row.bytes(Tag.declaredSHA512)
        completedAt = row.number(Tag.completedAt)
        hashes = UploadRecord.hashes(in: row) ?? RunningHashes()
        if let etag = row.text(Tag.answerTag), let hashes = row.text(Tag.answerHashes),
            let size = row.number(Tag.answerSize), let body = row.bytes(Tag.answerBody)
        {
            answer = StoredResponse(etag: etag, hashes: hashes, size: size, body: body)
        }
    }

    /// Milliseconds since 1970 UTC that a record may state.
    private static let times: ClosedRange<Int64> = 0...1 << 53

    private func addHashes(to row: inout TaggedBytes) {
        row.add(Tag.sha256, hashes.sha256.state)
        row.add(Tag.crc32c, Int64(hashes.crc32c.value))
        row.add(Tag.covered, hashes.covered)
        row.add(Tag.md5, hashes.md5?.state)
        row.add(Tag.coveredByMD5, hashes.coveredByMD5)
    }

    /// The stored states; without usable ones the digests begin again and are caught up later.
    private static func hashes(in row: TaggedBytes) -> RunningHashes? {
        guard
            let sha256 = row.bytes(Tag.sha256), let crc32c = row.number(Tag.crc32c),
            let covered = row.number(Tag.covered)
        else { return nil }
        return RunningHashes(
            sha256: sha256, crc32c: UInt32(truncatingIfNeeded: crc32c), covered: covered,
            md5: row.bytes(Tag.md5), coveredByMD5: row.number(Tag.coveredByMD5) ?? 0)
    }
}

extension RawRepresentable where RawValue == UInt8 {
    /// Reads a stored number; `nil` when it names no case.
    fileprivate init?(number: Int64) {
        guard let raw = UInt8(exactly: number) else { return nil }
        self.init(rawValue: raw)
    }
}
