internal import Blobs
public import HTTP
internal import SystemSupport

/// The owner of an upload: opaque ids, stored in the record and passed on with the content.
public struct UploadOwner: Hashable, Sendable {
    /// The application.
    public let application: String
    /// The conversation, for content that was created in one.
    public let conversation: String?
    /// The user, for content that was created on behalf of one.
    public let user: String?

    /// Names an owner; `nil` where an upload belongs to no conversation or no user.
    public init(application: String, conversation: String? = nil, user: String? = nil) {
        self.application = application
        self.conversation = conversation
        self.user = user
    }
}

/// The properties of an upload before its first byte.
public struct UploadDraft: Sendable {
    /// The owner.
    public let owner: UploadOwner
    /// The id of the resulting content: a UUID in lower case.
    public let contentID: String
    /// The declared media type; `nil` to take it from the first data request.
    public let mediaType: String?
    /// The declared length in bytes; `nil` while unknown.
    public let length: Int64?
    /// The file name for downloads, as the client sent it.
    public let fileName: String?
    /// The one origin whose pages may use the URLs (`Upload-Origin`).
    public let origin: String?
    /// Header values that tus clients get back.
    var tus = TusHeaders()
    /// The declared digests of the whole content.
    var declared = DeclaredDigests()

    /// Describes an upload; `length` is `nil` while it is not known.
    public init(
        owner: UploadOwner, contentID: String, mediaType: String?, length: Int64?,
        fileName: String? = nil, origin: String? = nil
    ) {
        self.owner = owner
        self.contentID = contentID
        self.mediaType = mediaType
        self.length = length
        self.fileName = fileName
        self.origin = origin
    }
}

/// An upload that was created durably.
struct CreatedUpload: Sendable {
    /// The path of the upload URL, which gives access by itself.
    let path: String
    /// The name of the record.
    let name: BlobName
}

extension Uploads {
    /// Creates an upload; its record is durable when this returns.
    ///
    /// A length of 0 makes the content complete at once.
    ///
    /// - Parameter request: The request whose response carries the URL; `nil` for none.
    /// - Returns: The absolute upload URL. Every client that has it may write to, query and cancel the upload.
    /// - Throws: ``UploadError/tooLarge(limit:)``, ``UploadError/tooManyUploads``, ``UploadError/quotaExceeded(_:)``,
    ///   ``UploadError/insufficientStorage``, ``UploadError/backend``.
    public func create(
        _ draft: UploadDraft, for request: Request? = nil
    ) async throws(UploadError) -> String {
        let path = try await create(draft, as: .api).path
        return (request.map(base.of) ?? base.text) + path
    }

    /// Creates an upload in a protocol.
    func create(
        _ draft: UploadDraft, as creation: UploadProtocol
    ) async throws(UploadError) -> CreatedUpload {
        let engine = engine
        guard BlobName(draft.contentID) != nil else { throw .backend }
        let limit = engine.settings.maxUploadSize
        if let length = draft.length, length > limit { throw .tooLarge(limit: limit) }
        var record = UploadRecord(
            draft, creation: creation, at: engine.clock.now(),
            lifetime: engine.settings.firstLifetime)
        // The IETF protocol requires the client to declare the end, even when the length is 0 (§1.4).
        if draft.length == 0 && creation != .ietf { record.state = .finalizing }
        return try await claiming(
            for: draft.owner, length: draft.length, staging: engine.mostStaged(record)
        ) {
            [record] claim throws(UploadError) in try await enter(record, for: claim)
        }
    }

    /// Creates an upload after reserving one of its owner's open uploads, disk space and quota.
    ///
    /// The reservation is made before anything is awaited, so of two concurrent creations the second counts the
    /// first.
    ///
    /// - Parameters:
    ///   - length: `nil` while unknown.
    ///   - most: How many bytes of the upload are staged at the same time, at most.
    func claiming(
        for owner: UploadOwner, length: Int64?, staging most: Int64 = .max,
        _ create: (UploadLedger.Claim) async throws(UploadError) -> CreatedUpload
    ) async throws(UploadError) -> CreatedUpload {
        let (engine, settings) = (engine, engine.settings)
        let claim = UploadLedger.Claim(
            owner: owner, bytes: length ?? 1,
            space: min(length ?? settings.unknownReservation, most)
        )
        let claimed = engine.ledger.withLock { ledger in
            // Where several processes create uploads, the registry counts the open ones.
            ledger.take(
                claim, limit: engine.shared == nil ? settings.maxOpenUploadsPerOwner : .max)
        }
        guard let claimed else { throw .tooManyUploads }
        do throws(UploadError) {
            if engine.shared == nil {
                try await engine.requireQuota(of: owner.application, for: claimed)
            }
            return try await create(claim)
        } catch {
            engine.ledger.withLock { ledger in ledger.give(back: claim) }
            throw error
        }
    }

    /// Stores a new record under an unguessable name, durably; an upload that has all its bytes is finished next.
    ///
    /// - Parameter claim: The reservation; released when this returns, but not when it throws.
    func enter(
        _ record: UploadRecord, for claim: UploadLedger.Claim
    ) async throws(UploadError) -> CreatedUpload {
        let engine = engine
        let token = try UploadToken.random()
        guard let name = token.recordName else { throw .backend }
        try await engine.records.create(name, record, by: engine)
        engine.note(name, record, for: claim)
        defer {
            // No request of this process uses the upload yet.
            if engine.shared != nil { engine.ledger.withLock { ledger in ledger.leave(name) } }
        }
        if record.state == .finalizing, let upload = try? await checkOut(name) {
            // An upload that is still being finished has a URL all the same; the next request waits for the end.
            _ = await upload.finish()
            checkIn(name)
        }
        return CreatedUpload(path: "/uploads/\(token.text)", name: name)
    }
}
