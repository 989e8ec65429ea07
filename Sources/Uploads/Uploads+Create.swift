internal import Blobs
public import HTTP
internal import SystemSupport

/// For whom an upload was created: opaque texts, kept in the record and handed back at the end.
public struct UploadOwner: Hashable, Sendable {
    /// The application.
    public let application: String
    /// The conversation, for content that was created in one.
    public let conversation: String?
    /// The user, for content that was created on behalf of one.
    public let user: String?

    /// Names an owner.
    public init(application: String, conversation: String? = nil, user: String? = nil) {
        self.application = application
        self.conversation = conversation
        self.user = user
    }
}

/// What is known of an upload before its first byte.
public struct UploadDraft: Sendable {
    /// For whom.
    public let owner: UploadOwner
    /// The content that will result: a UUID in lower case.
    public let contentID: String
    /// Declared media type; `nil` takes it from the first data request.
    public let mediaType: String?
    /// Declared length in bytes; `nil` while unknown.
    public let length: Int64?
    /// Name for downloads, as the client said it.
    public let fileName: String?
    /// The one origin whose pages may use the URLs (`Upload-Origin`).
    public let origin: String?
    /// What tus clients say of themselves and have said to them again.
    var tus = TusHeaders()
    /// Digests of the whole content, as the client states them.
    var declared = DeclaredDigests()

    /// Describes an upload.
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

/// An upload that has just been created, durably.
struct CreatedUpload: Sendable {
    /// The path of the upload URL, a capability.
    let path: String
    /// The name of its record.
    let name: BlobName
}

extension Uploads {
    /// Creates an upload; its record and the record's name are durable when this returns.
    ///
    /// A length of 0 makes the content complete at once.
    ///
    /// - Parameter request: The request in whose answer the URL stands; `nil` for none.
    /// - Returns: The absolute upload URL, a capability: who has it may write, ask and cancel.
    /// - Throws: ``UploadError/tooLarge(limit:)``, ``UploadError/rateLimited``,
    ///   ``UploadError/quotaExceeded(_:)``, ``UploadError/insufficientStorage``,
    ///   ``UploadError/backend``.
    public func create(
        _ draft: UploadDraft, for request: Request? = nil
    ) async throws(UploadError) -> String {
        let path = try await create(draft, as: .api).path
        return (request.map(base.of) ?? base.text) + path
    }

    /// Creates an upload in the manner of a dialect.
    func create(
        _ draft: UploadDraft, as creation: UploadProtocol
    ) async throws(UploadError) -> CreatedUpload {
        let engine = engine
        guard BlobName(draft.contentID) != nil else { throw .backend }
        let limit = engine.settings.maxUploadSize
        if let length = draft.length, length > limit { throw .tooLarge(limit: limit) }
        var record = UploadRecord(
            draft, creation: creation, at: engine.clock.now(), lives: engine.settings.createdTTL)
        // The IETF protocol wants the end declared, whatever the length says (§1.4).
        if draft.length == 0 && creation != .ietf { record.state = .finalizing }
        return try await claiming(
            for: draft.owner, length: draft.length, staging: engine.mostStaged(record)
        ) {
            [record] claim throws(UploadError) in try await enter(record, for: claim)
        }
    }

    /// Creates an upload once there is a place for it among its owner's, and the quota.
    ///
    /// Both are taken before anything is asked that takes time, so of two creations at once the
    /// second counts the first.
    ///
    /// - Parameters:
    ///   - length: `nil` when it is not known yet.
    ///   - most: How many bytes of it are ever staged at the same time.
    func claiming(
        for owner: UploadOwner, length: Int64?, staging most: Int64 = .max,
        _ create: (UploadLedger.Claim) async throws(UploadError) -> CreatedUpload
    ) async throws(UploadError) -> CreatedUpload {
        let (engine, settings) = (engine, engine.settings)
        let claim = UploadLedger.Claim(
            owner: owner, bytes: length ?? 1, room: min(length ?? settings.unknownReservation, most)
        )
        let claimed = engine.ledger.withLock { ledger in
            // Where others create, too, those who keep the records count them.
            ledger.take(
                claim, limit: engine.shared == nil ? settings.maxOpenUploadsPerOwner : .max)
        }
        guard let claimed else { throw .rateLimited }
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

    /// Gives a new record a name that nobody can guess, durably; one that has all its bytes goes on
    /// to be finished.
    ///
    /// - Parameter claim: What was claimed for it; given back when this returns, and only then.
    func enter(
        _ record: UploadRecord, for claim: UploadLedger.Claim
    ) async throws(UploadError) -> CreatedUpload {
        let engine = engine
        let token = try UploadToken.random()
        guard let name = token.recordName else { throw .backend }
        try await engine.records.create(name, record, by: engine)
        engine.note(name, record, for: claim)
        defer {
            // Nobody deals with it here until the first request comes.
            if engine.shared != nil { engine.ledger.withLock { ledger in ledger.leave(name) } }
        }
        if record.state == .finalizing, let upload = try? await checkOut(name) {
            // Still finalizing is no reason to withhold the URL: the next request joins in.
            _ = await upload.finish()
            checkIn(name)
        }
        return CreatedUpload(path: "/uploads/\(token.text)", name: name)
    }
}
