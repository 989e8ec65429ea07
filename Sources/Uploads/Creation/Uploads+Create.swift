internal import Blobs
internal import Locking

extension Uploads {
    /// Creates an upload; its record and the record's name are durable when this returns.
    ///
    /// A length of 0 makes the content complete at once.
    ///
    /// - Returns: The absolute upload URL, a capability: who has it may write, ask and cancel.
    /// - Throws: ``UploadError/tooLarge``, ``UploadError/rateLimited``,
    ///   ``UploadError/quotaExceeded(_:)``, ``UploadError/insufficientStorage``,
    ///   ``UploadError/backend``.
    public func create(_ draft: UploadDraft) async throws(UploadError) -> String {
        try await create(draft, as: .api).url
    }

    /// Creates an upload in the manner of a dialect.
    func create(
        _ draft: UploadDraft, as creation: CreationDialect
    ) async throws(UploadError) -> NewUpload {
        let (engine, now) = (engine, engine.clock.now())
        guard let blob = BlobName(draft.contentID) else { throw .invalid("not a content id") }
        if let length = draft.length, length > engine.settings.maxUploadSize { throw .tooLarge }
        let open = engine.ledger.withLock { $0.openUploads(of: draft.owner) }
        guard open < engine.settings.maxOpenUploadsPerOwner else { throw .rateLimited }
        try await engine.requireQuota(
            of: draft.owner.application, besidesUploads: draft.length ?? 1)
        let token = try UploadToken.random()
        guard let name = token.recordName else { throw .backend }
        var record = UploadRecord(
            draft, creation: creation, at: now, lives: engine.settings.createdTTL)
        // The IETF protocol wants the end declared, whatever the length says (§1.4).
        let isWhole = draft.length == 0 && creation != .ietf
        if isWhole { record.state = .finalizing }
        let bytes = record.bytes
        let reserve = draft.length ?? engine.settings.unknownReservation
        do throws(DiskError) {
            try await engine.queues[blob].run { () throws(DiskError) in
                try engine.requireRoom(for: reserve)
                _ = try engine.records.create(name, bytes)
            }
        } catch {
            throw UploadError(error)
        }
        engine.note(name, record)
        if isWhole, let upload = try? await checkOut(name) {
            // Still finalizing is no reason to withhold the URL: the next request joins in.
            _ = await upload.finish()
            checkIn(name)
        }
        return NewUpload(url: "\(base)/uploads/\(token.text)", name: name)
    }
}
