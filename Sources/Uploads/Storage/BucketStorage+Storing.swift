internal import Blobs
internal import ObjectStore

extension BucketStorage {
    func publish(_ archive: Archive, _ content: Publication) async throws(StorageError) {
        try await store(archive.name, as: archive.attempt, type: content.mediaType)
        try discard(archive.name)
    }

    func bring(
        _ staged: BlobName, as content: Publication
    ) async throws(StorageError) -> Bool {
        // By a server that had no bucket yet.
        if try await disk.isPublishedHere(content.name) {
            return try await disk.bring(staged, as: content)
        }
        let known: [UInt8]?
        do throws(ObjectStoreError) {
            known = try await ContentBucket(store).digest(of: content.name)
        } catch {
            throw StorageError(error)
        }
        if let known {
            guard known == content.sha256 else { return false }
        } else {
            try await store(staged, as: content.name, type: content.mediaType)
        }
        try discard(staged)
        return true
    }

    /// Stores a staged file as an object.
    private func store(
        _ staged: BlobName, as name: BlobName, type: String
    ) async throws(StorageError) {
        let file: BlobFile
        do throws(DiskError) {
            file = try disk.blobs.openStaged(staged)
        } catch {
            throw .disk(error)
        }
        do throws(ObjectStoreError) {
            try await ContentBucket(store).store(file, as: name, type: type)
        } catch {
            throw StorageError(error)
        }
    }

    private func discard(_ staged: BlobName) throws(StorageError) {
        do throws(DiskError) {
            try disk.blobs.discard(staged)
        } catch {
            throw .disk(error)
        }
    }
}
