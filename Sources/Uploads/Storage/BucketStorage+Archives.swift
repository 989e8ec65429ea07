internal import Blobs
internal import ObjectStore

extension BucketStorage {
    func publish(_ archive: Archive, _ content: Publication) async throws(StorageError) {
        let file: BlobFile
        do throws(DiskError) {
            file = try disk.blobs.openStaged(archive.name)
        } catch {
            throw .disk(error)
        }
        do throws(ObjectStoreError) {
            try await ContentBucket(store).store(
                file, as: archive.attempt, type: content.mediaType)
        } catch {
            throw StorageError(error)
        }
        do throws(DiskError) {
            try disk.blobs.discard(archive.name)
        } catch {
            throw .disk(error)
        }
    }
}
