internal import Blobs
internal import Bytes
internal import HTTP

/// The stored state of one upload (§1.2).
///
/// The record does not contain the token; its name is the token's SHA-256, so that neither the folder nor a backup
/// gives access to uploads.
struct UploadRecord: Sendable {
    let contentID: String
    let owner: UploadOwner
    let creation: UploadProtocol
    let createdAt: Int64
    var state = UploadState.created
    var failure: FailureReason?
    var lastProgressAt: Int64
    /// When an open upload expires; for an ended one, when its record is deleted.
    var expiresAt: Int64
    /// The length of the content; does not change once set.
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
    /// The bytes that are in the bucket, where several processes share uploads.
    var held: StoredParts?
    /// The final response, sent again byte for byte.
    var answer: StoredFinalResponse?

    init(_ draft: UploadDraft, creation: UploadProtocol, at now: Int64, lifetime: Int64) {
        contentID = draft.contentID
        owner = draft.owner
        self.creation = creation
        createdAt = now
        lastProgressAt = now
        expiresAt = now + lifetime
        length = draft.length
        mediaType = draft.mediaType.map(MediaType.init(untrusted:))?.text
        fileName = draft.fileName.map(FileName.init(untrusted:))?.text
        origin = draft.origin
        declared = draft.declared
        // Clients of protocol A may request MD5 at the end (§4.5).
        hashes.want(md5: creation == .gcs || declared.md5 != nil)
        tus = draft.tus
    }

    /// The media type of the content.
    var storedType: String { mediaType ?? MediaType.unknown.text }

    /// Whether this is a complete partial upload, kept for concatenations; it never becomes content by itself
    /// (§6.10).
    var isKeptPart: Bool { tus.isPartial && state == .complete }
    /// Whether the staged bytes are still needed; those of a complete partial upload are kept until its record is
    /// deleted (§6.10).
    var isHeld: Bool { !state.isTerminal || isKeptPart }
    /// Bytes that count for the quota: the length, or the stored bytes while the length is unknown.
    var claimed: Int64 { isHeld ? length ?? offset : 0 }
    /// Whether the upload can expire: it accepts bytes, or its bytes are kept for concatenations.
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

// Changes of a record; each is durable only once the record is stored.
extension UploadRecord {
    /// Adds what a request declares.
    mutating func amend(for append: AppendRequest) throws(UploadError) {
        declared = try declared.merging(append.declared)
        if mediaType == nil, let type = append.mediaType {
            mediaType = MediaType(untrusted: type).text
        }
        if length == nil { length = append.total }
    }

    /// Counts the bytes that a request has written.
    mutating func advance(
        to transfer: TransferProgress, at now: Int64, _ settings: UploadSettings
    ) {
        if transfer.written > offset {
            state = .receiving
            lastProgressAt = now
            expiresAt = min(now + settings.idleTTL, createdAt + settings.absoluteTTL)
        }
        offset = transfer.written
        hashes = transfer.hashes
    }

    /// Marks the upload as complete.
    mutating func complete(
        _ upload: FinishedUpload, _ hashes: RunningHashes, _ settings: UploadSettings
    ) {
        self.hashes = hashes
        state = .complete
        completedAt = upload.content.completedAtMilliseconds
        held = nil
        // A partial upload expires as if it were unfinished.
        if !tus.isPartial {
            expiresAt = upload.content.completedAtMilliseconds + settings.tombstoneTTL
        }
        answer = FinalResponse.stored(upload)
    }

    /// Marks the upload as ended without content.
    mutating func end(as state: UploadState, at now: Int64, _ settings: UploadSettings) {
        self.state = state
        answer = nil
        expiresAt = now + settings.tombstoneTTL
        held = nil
    }
}

/// The final response as first sent (§5.6).
struct StoredFinalResponse: Sendable, Equatable {
    /// Including the quotes.
    let etag: String
    /// The value of `X-Goog-Hash`.
    let hashes: String
    let size: Int64
    /// JSON.
    let body: [UInt8]
}

/// The state of an upload (§1.3).
enum UploadState: UInt8, Sendable {
    case created = 1
    case receiving = 2
    case finalizing = 3
    case complete = 4
    case failed = 5
    case cancelled = 6
    case expired = 7

    /// Whether the upload accepts bytes.
    var isOpen: Bool { self == .created || self == .receiving }
    /// Whether the state is final.
    var isTerminal: Bool { rawValue >= UploadState.complete.rawValue }

    /// Whether the upload ended without content.
    var isGone: Bool { rawValue >= UploadState.failed.rawValue }

    /// The name in the neutral status.
    var name: String { "\(self)" }
}

/// Why an upload failed; stored so that `HEAD` can distinguish a wrong digest from lost bytes.
enum FailureReason: UInt8, Sendable {
    case digest = 1
    case storageLost = 2
    case refused = 3
    case quota = 4
    case overflow = 5
}

extension UploadRecord {
    /// The tags of stored fields; a tag is never reused or changed.
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

    /// The encoded record.
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

    /// Decodes a stored record; `nil` when it is malformed.
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
        // Later sums must not overflow.
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
            answer = StoredFinalResponse(etag: etag, hashes: hashes, size: size, body: body)
        }
    }

    /// The range of times in a record, in milliseconds since 1970 UTC.
    private static let times: ClosedRange<Int64> = 0...1 << 53

    private func addHashes(to row: inout TaggedBytes) {
        row.add(Tag.sha256, hashes.sha256.state)
        row.add(Tag.crc32c, Int64(hashes.crc32c.value))
        row.add(Tag.covered, hashes.covered)
        row.add(Tag.md5, hashes.md5?.state)
        row.add(Tag.coveredByMD5, hashes.coveredByMD5)
    }

    /// The stored digest states. Without valid ones the digests start again and read the bytes later.
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
    /// `nil` when the number names no case.
    fileprivate init?(number: Int64) {
        guard let raw = UInt8(exactly: number) else { return nil }
        self.init(rawValue: raw)
    }
}
