internal import Blobs
internal import ObjectStore

extension PartMover {
    /// Makes the object, and takes away what is staged (§10.6).
    ///
    /// May be repeated after a crash at any instant: the object is there with its whole size, or the
    /// staged file and the journal are.
    ///
    /// - Throws: ``StorageError/lost`` when neither is so.
    func finish(_ content: Publication) async throws(StorageError) {
        (durable, length, mediaType) = (content.size, content.size, content.mediaType)
        // Nothing is ever staged of an empty content; storing it again is harmless.
        if content.size > 0, try !isStaged() { return try await settle(content) }
        try await moveWholeParts()
        if try known() == nil, content.size <= PartSize.of(content.size, atMost: bucket.longest) {
            try await storeAtOnce(content)
        } else {
            try await complete(content)
        }
        try clear()
    }

    private func isStaged() throws(StorageError) -> Bool {
        do throws(DiskError) {
            return try bucket.disk.blobs.stagedSize(name) != nil
        } catch {
            throw .disk(error)
        }
    }

    /// A crash came after everything was done, or between the two last steps.
    private func settle(_ content: Publication) async throws(StorageError) {
        if let parts = try known() {
            try await complete(parts, content)
        } else {
            try await requireObject(content)
        }
        try clear()
    }

    private func storeAtOnce(_ content: Publication) async throws(StorageError) {
        let body = try bucket.body(of: name, 0..<content.size)
        do throws(ObjectStoreError) {
            _ = try await bucket.store.put(
                bucket.key(name), body, type: content.mediaType, sha256: content.sha256)
        } catch {
            throw StorageError(error)
        }
    }

    private func complete(_ content: Publication) async throws(StorageError) {
        let end = try known()?.end ?? 0
        // The last part was moved before a crash when there are as many as there can be.
        if end < content.size { try await move(end..<content.size) }
        guard let parts = try known() else { throw .lost }
        try await complete(parts, content)
    }

    private func complete(
        _ parts: MovedParts, _ content: Publication
    ) async throws(StorageError) {
        do throws(ObjectStoreError) {
            try await bucket.store.complete(
                bucket.key(name), upload: parts.upload, parts.parts(of: content.size))
        } catch {
            switch error.kind {
            // Nothing but the object itself tells whether an answer was lost or the parts were.
            case .missingUpload: break
            case .wrongParts, .partTooSmall: throw .lost
            default: throw StorageError(error)
            }
        }
        try await requireObject(content)
    }

    /// Whether the object is there with every byte; nothing else is proof of it (§10.3).
    private func requireObject(_ content: Publication) async throws(StorageError) {
        let summary: ObjectSummary?
        do throws(ObjectStoreError) {
            summary = try await bucket.store.head(bucket.key(name))
        } catch {
            throw StorageError(error)
        }
        guard summary?.size == content.size else { throw .lost }
    }

    /// The file first: without a journal its holes would look like bytes.
    private func clear() throws(StorageError) {
        do throws(DiskError) {
            try bucket.disk.blobs.discard(name)
        } catch {
            throw .disk(error)
        }
        try closeJournal()
    }
}
