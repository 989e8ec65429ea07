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
        let engine = engine
        guard BlobName(draft.contentID) != nil else { throw .invalid("not a content id") }
        if let length = draft.length, length > engine.settings.maxUploadSize { throw .tooLarge }
        try requirePlace(for: draft.owner)
        try await engine.requireQuota(
            of: draft.owner.application, besidesUploads: draft.length ?? 1)
        var record = UploadRecord(
            draft, creation: creation, at: engine.clock.now(), lives: engine.settings.createdTTL)
        // The IETF protocol wants the end declared, whatever the length says (§1.4).
        if draft.length == 0 && creation != .ietf { record.state = .finalizing }
        return try await enter(
            record, reserving: draft.length ?? engine.settings.unknownReservation)
    }

    /// Whether an owner may have one more open upload (§11.9).
    func requirePlace(for owner: UploadOwner) throws(UploadError) {
        let open = engine.ledger.withLock { $0.openUploads(of: owner) }
        guard open < engine.settings.maxOpenUploadsPerOwner else { throw .rateLimited }
    }

    /// Gives a new record a name that nobody can guess, durably; one that has all its bytes goes on
    /// to be finished.
    ///
    /// - Parameter room: Bytes still to come, which the disk must have room for.
    func enter(
        _ record: UploadRecord, reserving room: Int64
    ) async throws(UploadError) -> NewUpload {
        let engine = engine
        let token = try UploadToken.random()
        guard let name = token.recordName else { throw .backend }
        let bytes = record.bytes
        do throws(DiskError) {
            try await engine.queues[name].run { () throws(DiskError) in
                try engine.requireRoom(for: room)
                _ = try engine.records.create(name, bytes)
            }
        } catch {
            throw UploadError(error)
        }
        engine.note(name, record)
        if record.state == .finalizing, let upload = try? await checkOut(name) {
            // Still finalizing is no reason to withhold the URL: the next request joins in.
            _ = await upload.finish()
            checkIn(name)
        }
        return NewUpload(url: "\(base)/uploads/\(token.text)", name: name)
    }
}
