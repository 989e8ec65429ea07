internal import Blobs
internal import ObjectStore

extension SharedStorage {
    /// Makes the object of an upload whose every byte is held (§10.6).
    ///
    /// Nobody adds to it any more, so it may be repeated after a crash at any instant, and at the same time
    /// by another process.
    ///
    /// - Throws: ``StorageError/lost`` when neither the object is there nor what makes it.
    func finish(
        _ record: UploadRecord, of name: BlobName, sha256: [UInt8]?, version: Int64
    ) async throws(StorageError) {
        try await bucket.patiently { () throws(StorageError) in
            guard let held = record.held, let upload = held.upload else {
                return try await storeAtOnce(record, of: name, sha256)
            }
            do throws(StorageError) {
                let whole = try await withLastPart(held, record, of: name, version)
                try await complete(whole, upload, of: name)
            } catch {
                // Nothing but the object itself tells whether an answer was lost or the parts were.
                guard error == .lost else { throw error }
            }
            try await requireObject(record.offset, of: name)
        }
    }

    private func storeAtOnce(
        _ record: UploadRecord, of name: BlobName, _ sha256: [UInt8]?
    ) async throws(StorageError) {
        let file = try await stage(record, of: name)
        do throws(ObjectStoreError) {
            _ = try await store.put(
                bucket.key(name), .bytes(0..<record.offset, read: file.read),
                type: record.storedType, sha256: sha256)
        } catch {
            throw StorageError(error)
        }
    }

    private func withLastPart(
        _ held: HeldParts, _ record: UploadRecord, of name: BlobName, _ version: Int64
    ) async throws(StorageError) -> HeldParts {
        guard held.base < record.offset else { return held }
        var whole = held
        let file = try await stage(record, of: name)
        whole.append(
            try await put(file, held.base..<record.offset, behind: held, of: name, version))
        return whole
    }

    private func complete(
        _ held: HeldParts, _ upload: String, of name: BlobName
    ) async throws(StorageError) {
        do throws(ObjectStoreError) {
            try await store.complete(bucket.key(name), upload: upload, held.parts)
        } catch {
            switch error.kind {
            case .wrongParts, .partTooSmall: throw .lost
            default: throw StorageError(error)
            }
        }
    }

    private func requireObject(
        _ size: Int64, of name: BlobName
    ) async throws(StorageError) {
        let summary: ObjectSummary?
        do throws(ObjectStoreError) {
            summary = try await store.head(bucket.key(name))
        } catch {
            throw StorageError(error)
        }
        guard summary?.size == size else { throw .lost }
    }
}
