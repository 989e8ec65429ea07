internal import Blobs
public import HTTP
internal import Locking

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
        _ draft: UploadDraft, as creation: CreationDialect
    ) async throws(UploadError) -> NewUpload {
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
        _ create: (Ledger.Claim) async throws(UploadError) -> NewUpload
    ) async throws(UploadError) -> NewUpload {
        let (engine, settings) = (engine, engine.settings)
        let claim = Ledger.Claim(
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
        _ record: UploadRecord, for claim: Ledger.Claim
    ) async throws(UploadError) -> NewUpload {
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
        return NewUpload(path: "/uploads/\(token.text)", name: name)
    }
}
